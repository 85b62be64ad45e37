import { LogOut } from 'lucide-react'
import { useState } from 'react'
import { createClient } from '../../../client/src/index.ts'
import { queryClient, unwrap, useConsoleSettings } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { texts } from '../texts/index.ts'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Activity } from './activity.tsx'
import type { AdminApi } from './api.ts'
import { Audit } from './audit.tsx'
import { Cleanups } from './cleanups.tsx'
import { Dependencies, Stats } from './figures.tsx'
import { FindUser } from './find-user.tsx'
import { InactiveUsers } from './inactive-users.tsx'
import { Ingestions, Queues } from './queues.tsx'
import { ReceiptSearch } from './receipt-search.tsx'

const t = texts.admin

/** The operator's page. The token is kept only in the memory of the page, so a reload asks for it again. */
export function Operation() {
  const [api, setApi] = useState<AdminApi>()
  const settings = useConsoleSettings()
  if (!api) return <AskToken onToken={setApi} />
  const leave = () => {
    queryClient.clear()
    setApi(undefined)
  }
  return (
    <div className="main">
      <main className="page">
        <header className="page-head">
          <div>
            <h1>{t.title}</h1>
            <p className="muted">{t.text}</p>
          </div>
          <div className="row">
            {settings?.temporal_ui_url && (
              <>
                {workflowLinks(settings.temporal_ui_url, settings.temporal_namespace).map(({ label, href }) => (
                  <a key={label} className="button" href={href} target="_blank" rel="noreferrer">
                    {label}
                  </a>
                ))}
              </>
            )}
            <Button onClick={leave}>
              <LogOut size={16} aria-hidden="true" />
              {t.leave}
            </Button>
          </div>
        </header>
        <Dependencies />
        <Stats api={api} />
        <Activity api={api} />
        <Queues api={api} />
        <Ingestions api={api} />
        <FindUser api={api} />
        <Audit api={api} />
        <InactiveUsers api={api} />
        <Cleanups api={api} />
        <ReceiptSearch api={api} />
      </main>
    </div>
  )
}

function workflowLinks(ui: string, namespace: string) {
  const search = (status: string) =>
    `${ui}/namespaces/${namespace}/workflows?query=${encodeURIComponent(`ExecutionStatus="${status}"`)}`
  return [
    { label: t.runningWorkflows, href: search('Running') },
    { label: t.failedWorkflows, href: search('Failed') },
  ]
}

function AskToken({ onToken }: { onToken: (api: AdminApi) => void }) {
  const [token, setToken] = useState('')
  const form = useSubmit(async () => {
    const given = token.trim()
    const api = createClient({ baseUrl: '', token: () => given })
    await unwrap(api.GET('/admin/system-stats'))
    onToken(api)
  })
  return (
    <main className="welcome-form full-height">
      <div>
        <div className="stack-small">
          <h1>{t.title}</h1>
          <p className="muted">{t.askText}</p>
        </div>
        <form className="form" onSubmit={form.onSubmit}>
          {form.problem && <Notice tone="danger">{form.problem}</Notice>}
          <TextField
            label={t.token}
            help={t.tokenHelp}
            type="password"
            autoComplete="off"
            required
            autoFocus
            value={token}
            onValue={setToken}
          />
          <Button type="submit" look="primary" wide busy={form.isBusy}>
            {t.enter}
          </Button>
        </form>
      </div>
    </main>
  )
}
