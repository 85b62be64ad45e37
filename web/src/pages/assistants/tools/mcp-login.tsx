import { useQuery } from '@tanstack/react-query'
import { KeyRound } from 'lucide-react'
import { useState } from 'react'
import { api, queryClient, unwrap } from '../../../lib/api.ts'
import { formatDate } from '../../../lib/format.ts'
import { beginMcpLogin, mcpLoginsKey, mcpRedirectUri } from '../../../lib/mcp-login.ts'
import { useSubmit } from '../../../lib/use-submit.ts'
import { assistantMessages } from '../../../texts/assistant.ts'
import { texts } from '../../../texts/index.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyIcon } from '../../../ui/code-block.tsx'
import { TextField } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'

const t = assistantMessages.tools.login

interface McpLoginProps {
  assistantId: string
  url: string
  /** The form of the settings: what is wrong in it is shown there. */
  formId: string
  /** The tool must be there when the browser comes back. */
  save: () => Promise<void>
}

/** The login at an MCP server: begun, shown and forgotten here. */
export function McpLogin({ assistantId, url, formId, save }: McpLoginProps) {
  const path = { path: { aid: assistantId } }
  const logins = useQuery({
    queryKey: mcpLoginsKey(assistantId),
    queryFn: () => unwrap(api.GET('/assistants/{aid}/mcp-logins', { params: path })),
  })
  const [clientId, setClientId] = useState('')
  const [clientSecret, setClientSecret] = useState('')
  const login = logins.data?.logins.find((one) => one.url === url)
  const [tried, setTried] = useState('')
  const connecting = useSubmit(async () => {
    setTried(url)
    const form = document.querySelector(`#${CSS.escape(formId)}`)
    if (form instanceof HTMLFormElement && !form.reportValidity()) return
    await save()
    await beginMcpLogin(assistantId, url, { id: clientId.trim(), secret: clientSecret.trim() })
  })
  const forgetting = useSubmit(async () => {
    const ids = { aid: assistantId, mcp_login_id: login?.id ?? '' }
    await unwrap(api.DELETE('/assistants/{aid}/mcp-logins/{mcp_login_id}', { params: { path: ids } }))
    await queryClient.invalidateQueries({ queryKey: mcpLoginsKey(assistantId) })
  })
  const problem = (tried === url ? connecting.problem : undefined) ?? forgetting.problem
  const isConnected = login !== undefined && !login.is_over
  return (
    <section className="card stack-small" aria-labelledby="mcp-login">
      <div className="spread">
        <h3 id="mcp-login">{t.title}</h3>
        <span className="row">
          {login && (
            <Button size="small" busy={forgetting.isBusy} onClick={() => void forgetting.submit()}>
              {t.disconnect}
            </Button>
          )}
          {!isConnected && (
            <Button
              size="small"
              busy={connecting.isBusy}
              disabled={url === ''}
              onClick={() => void connecting.submit()}
            >
              <KeyRound size={15} aria-hidden="true" />
              {t.connect}
            </Button>
          )}
        </span>
      </div>
      {login?.is_over && <Notice tone="warn">{t.over}</Notice>}
      <p className="muted small">{isConnected ? t.connected(formatDate(login.connected_at)) : t.help}</p>
      {problem && <Notice tone="danger">{problem}</Notice>}
      {!isConnected && (
        <details>
          <summary className="small">{t.byHand}</summary>
          <div className="stack-small">
            <p className="muted small">{t.byHandHelp}</p>
            <div className="row">
              <code className="small grow">{mcpRedirectUri()}</code>
              <CopyIcon text={mcpRedirectUri()} />
            </div>
            <TextField mono label={t.clientId} autoComplete="off" value={clientId} onValue={setClientId} />
            <TextField
              mono
              type="password"
              label={`${t.clientSecret} (${texts.optional})`}
              autoComplete="off"
              value={clientSecret}
              onValue={setClientSecret}
            />
          </div>
        </details>
      )}
    </section>
  )
}
