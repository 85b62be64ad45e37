import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { begunLogin, finishMcpLogin } from '../../lib/mcp-login.ts'
import { say } from '../../lib/toasts.ts'
import { useTitle } from '../../lib/use-title.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Notice } from '../../ui/notice.tsx'
import { Skeleton } from '../../ui/states.tsx'

const t = assistantMessages.tools.login

/** Where the login server of an MCP server sends the browser back. */
export function Connected() {
  useTitle(t.connecting)
  const navigate = useNavigate()
  const search = useSearch({ from: '/console/connected' })
  // The code leaves the address at once.
  const [{ code, state = '', iss }] = useState(search)
  const [begun] = useState(() => begunLogin(state))
  const [problem, setProblem] = useState<string>()
  const reason = problem ?? (begun === undefined ? t.unknown : code === undefined ? t.refused : undefined)
  useEffect(() => {
    void navigate({ to: '/console/connected', search: {}, replace: true })
    if (begun === undefined || code === undefined) return
    finishMcpLogin(begun, { code, state, ...(iss && { iss }) }).then(
      () => {
        say(t.done(new URL(begun.url).host))
        void navigate({
          to: '/console/assistants/$assistantId',
          params: { assistantId: begun.assistantId },
          search: { tab: 'tools' },
          replace: true,
        })
      },
      (error: unknown) => setProblem(wordsOf(error, texts.offline)),
    )
  }, [begun, code, state, iss, navigate])
  return (
    <div className="page page-narrow stack">
      <h1>{t.connecting}</h1>
      {reason === undefined ? <Skeleton lines={2} /> : <Notice tone="danger">{reason}</Notice>}
      {reason !== undefined && (
        <p>
          {begun ? (
            <Link
              to="/console/assistants/$assistantId"
              params={{ assistantId: begun.assistantId }}
              search={{ tab: 'tools' }}
            >
              {t.back}
            </Link>
          ) : (
            <Link to="/console/assistants">{t.back}</Link>
          )}
        </p>
      )}
    </div>
  )
}
