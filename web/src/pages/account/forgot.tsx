import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, unwrap, useConsoleSettings } from '../../lib/api.ts'
import { useTypedEmail } from '../../lib/login-methods.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { MailboxLink } from './links.tsx'
import { Welcome } from './welcome.tsx'

const t = texts.account

export function ForgotPassword() {
  const [email, setEmail] = useTypedEmail()
  const [sentTo, setSentTo] = useState<string>()
  const mailbox = useConsoleSettings()?.mailbox_url
  const form = useSubmit(async () => {
    await unwrap(api.POST('/auth/forgot-password', { body: { email } }))
    setSentTo(email)
  })
  return (
    <Welcome title={t.forgotTitle} text={t.forgotText}>
      <form className="form" onSubmit={form.onSubmit}>
        {sentTo && (
          <Notice tone="ok">
            {t.linkSent(sentTo)} {mailbox && <MailboxLink address={mailbox} />}
          </Notice>
        )}
        <TextField
          label={t.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onValue={setEmail}
        />
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        <Button type="submit" look="primary" wide busy={form.isBusy}>
          {t.sendLink}
        </Button>
      </form>
      <div className="small">
        <Link to="/login">{t.toLogin}</Link>
      </div>
    </Welcome>
  )
}

/** The page to which the link in the mail leads. */
export function ResetPassword() {
  const [token] = useState(() => new URLSearchParams(window.location.search).get('token') ?? '')
  const [password, setPassword] = useState('')
  const [isDone, setDone] = useState(false)
  const form = useSubmit(async () => {
    await unwrap(api.POST('/auth/reset-password', { body: { token, new_password: password } }))
    setDone(true)
  })
  return (
    <Welcome title={t.resetTitle}>
      {token === '' && <Notice tone="danger">{t.noToken}</Notice>}
      {isDone && <Notice tone="ok">{t.resetDone}</Notice>}
      {token !== '' && !isDone && (
        <form className="form" onSubmit={form.onSubmit}>
          <PasswordField
            label={t.newPassword}
            autoComplete="new-password"
            autoFocus
            help={t.passwordHelp}
            value={password}
            onValue={setPassword}
          />
          {form.problem && <Notice tone="danger">{form.problem}</Notice>}
          <Button type="submit" look="primary" wide busy={form.isBusy}>
            {t.setPassword}
          </Button>
        </form>
      )}
      {isDone ? (
        <Link to="/login" className="button button-primary button-wide">
          {t.toLogin}
        </Link>
      ) : (
        <div className="spread small">
          <Link to="/login">{t.toLogin}</Link>
          <Link to="/forgot-password">{t.forgotTitle}</Link>
        </div>
      )}
    </Welcome>
  )
}
