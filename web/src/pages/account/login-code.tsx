import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { type Schemas, api, queryClient, unwrap } from '../../lib/api.ts'
import { formatAgo } from '../../lib/format.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { useTitle } from '../../lib/use-title.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { loginsKey } from './logins.tsx'

const t = texts.programLogins

/** Where a program sends a person who logs it in. A code in the address is only filled in: the person confirms it. */
export function LoginCode() {
  useTitle(t.codeTitle)
  const { code: given = '' } = useSearch({ from: '/console/login-code' })
  const [code, setCode] = useState(given)
  const [asker, setAsker] = useState<Schemas['LoginCodeAsker']>()
  const [done, setDone] = useState<string>()
  const finding = useSubmit(async () => {
    setAsker(await unwrap(api.POST('/user/login-codes/find', { body: { code } })))
  })
  const decide = async (allow: boolean) => {
    await unwrap(api.POST('/user/login-codes/decide', { body: { code, allow } }))
    await queryClient.invalidateQueries({ queryKey: loginsKey })
    setDone(allow ? t.allowed : t.refused)
  }
  const allowing = useSubmit(() => decide(true))
  const refusing = useSubmit(() => decide(false))
  const problem = allowing.problem ?? refusing.problem
  return (
    <div className="page page-narrow">
      <header className="stack-small">
        <h1>{t.codeTitle}</h1>
        <p className="muted">{t.codeText}</p>
      </header>
      {done !== undefined && <Notice tone="ok">{done}</Notice>}
      {done === undefined && asker === undefined && (
        <form className="card form" onSubmit={finding.onSubmit}>
          <TextField
            label={t.code}
            value={code}
            onValue={setCode}
            required
            autoFocus
            autoComplete="off"
            maxLength={20}
          />
          {finding.problem && <Notice tone="danger">{finding.problem}</Notice>}
          <div>
            <Button type="submit" look="primary" busy={finding.isBusy}>
              {t.look}
            </Button>
          </div>
        </form>
      )}
      {done === undefined && asker !== undefined && (
        <section className="card form">
          <h2>{t.asks(asker.name)}</h2>
          <p>{t.begun(formatAgo(asker.created_at))}</p>
          <p>
            {t.code}: <strong>{code.toUpperCase()}</strong>
          </p>
          <Notice tone="warn">{t.warning}</Notice>
          {problem && <Notice tone="danger">{problem}</Notice>}
          <div className="row row-end">
            <Button busy={refusing.isBusy} onClick={() => void refusing.submit()}>
              {t.refuse}
            </Button>
            <Button look="primary" busy={allowing.isBusy} onClick={() => void allowing.submit()}>
              {t.allow}
            </Button>
          </div>
        </section>
      )}
    </div>
  )
}
