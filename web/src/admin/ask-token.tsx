import { useState } from 'react'
import { unwrap } from '../lib/api.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { operationMessages } from '../texts/operation.ts'
import { Button } from '../ui/button.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import type { AdminApi } from '../lib/admin-api.ts'
import { keepToken } from './token.ts'

const t = operationMessages.admin

interface AskTokenProps {
  connect: (token: string) => AdminApi
  onToken: (api: AdminApi) => void
}

export function AskToken({ connect, onToken }: AskTokenProps) {
  const [token, setToken] = useState('')
  const [isKept, setKept] = useState(false)
  const form = useSubmit(async () => {
    const given = token.trim()
    const api = connect(given)
    await unwrap(api.GET('/admin/system-stats'))
    if (isKept) keepToken(given)
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
          <CheckField label={t.keepToken} help={t.keepTokenHelp} checked={isKept} onValue={setKept} />
          <Button type="submit" look="primary" wide busy={form.isBusy}>
            {t.enter}
          </Button>
        </form>
      </div>
    </main>
  )
}
