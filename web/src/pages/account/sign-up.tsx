import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { takePlace } from '../../lib/after-login.ts'
import { api, unwrap, useConsoleSettings } from '../../lib/api.ts'
import { enter } from '../../lib/enter.ts'
import { language } from '../../lib/language.ts'
import { useLoginWays, useTypedEmail } from '../../lib/login-methods.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { MailboxLink, OtherWays } from './links.tsx'
import { LocalCode } from './local-code.tsx'
import { Welcome } from './welcome.tsx'

const t = texts.account
const shortestPassword = 8
const isWhole = (code: string) => /^\d{6}$/.test(code)

/** Kept between sign-up and verification, so that people need not log in a second time. Kept by this page only. */
const waiting = new Map<string, string>()

export function SignUp() {
  const [email, setEmail] = useTypedEmail()
  const [password, setPassword] = useState('')
  const [firstName, setFirstName] = useState('')
  const [lastName, setLastName] = useState('')
  const navigate = useNavigate()
  const ways = useLoginWays(email)
  const form = useSubmit(async () => {
    const [provider] = ways.providers
    if (!ways.hasPassword && provider !== undefined) return window.location.assign(provider.url)
    if (password.length < shortestPassword) throw new Error(t.passwordShort)
    const names = { ...(firstName && { first_name: firstName }), ...(lastName && { last_name: lastName }) }
    await unwrap(api.POST('/auth/signup', { body: { email, password, language, ...names } }))
    waiting.set(email, password)
    setEmail('')
    await navigate({ to: '/verify', search: { email } })
  })
  return (
    <Welcome title={t.signUp}>
      <form className="form" onSubmit={form.onSubmit}>
        <TextField
          label={t.email}
          type="email"
          autoComplete="username"
          required
          autoFocus
          value={email}
          onValue={setEmail}
        />
        {ways.hasPassword && (
          <>
            <PasswordField
              label={t.password}
              autoComplete="new-password"
              help={t.passwordHelp}
              value={password}
              onValue={setPassword}
            />
            <div className="form-row">
              <TextField
                label={`${t.firstName} (${texts.optional})`}
                autoComplete="given-name"
                value={firstName}
                onValue={setFirstName}
              />
              <TextField
                label={`${t.lastName} (${texts.optional})`}
                autoComplete="family-name"
                value={lastName}
                onValue={setLastName}
              />
            </div>
            {form.problem && <Notice tone="danger">{form.problem}</Notice>}
            <Button type="submit" look="primary" wide busy={form.isBusy}>
              {t.signUp}
            </Button>
          </>
        )}
      </form>
      <OtherWays ways={ways} page="signUp" />
      <div className="small">
        {t.haveAccount} <Link to="/login">{t.logIn}</Link>
      </div>
    </Welcome>
  )
}

export function Verify() {
  const { email = '' } = useSearch({ from: '/verify' })
  const [address, setAddress] = useState(email)
  const [code, setCode] = useState('')
  const sender = useRef<HTMLFormElement>(null)
  const [isResent, setResent] = useState(false)
  const navigate = useNavigate()
  const router = useRouter()
  const settings = useConsoleSettings()
  const mailbox = settings?.mailbox_url
  const form = useSubmit(async () => {
    await unwrap(api.POST('/auth/verify-email', { body: { email: address, code } }))
    const password = waiting.get(address)
    if (password === undefined) return navigate({ to: '/login' })
    waiting.delete(address)
    const { jwt_token: token } = await unwrap(api.POST('/auth/login', { body: { email: address, password } }))
    enter(token)
    router.history.push(takePlace())
  })
  // The sixth digit sends the code.
  const write = (next: string) => {
    const digits = next.replaceAll(/\s/g, '')
    setCode(digits)
    if (isWhole(digits) && address !== '' && !form.isBusy) requestAnimationFrame(() => sender.current?.requestSubmit())
  }
  const resend = useSubmit(async () => {
    await unwrap(api.POST('/auth/resend-verification', { body: { email: address } }))
    setResent(true)
  })
  const problem = form.problem ?? resend.problem
  return (
    <Welcome title={t.verifyTitle} text={email ? t.verifyText(email) : undefined}>
      <form ref={sender} className="form" onSubmit={form.onSubmit}>
        {isResent && !problem && <Notice tone="ok">{t.resent}</Notice>}
        {!email && <TextField label={t.email} type="email" required value={address} onValue={setAddress} />}
        <TextField
          label={t.code}
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={10}
          required
          autoFocus
          value={code}
          onValue={write}
        />
        {problem && <Notice tone="danger">{problem}</Notice>}
        <Button type="submit" look="primary" wide busy={form.isBusy}>
          {t.verify}
        </Button>
      </form>
      {mailbox && (
        <Notice>
          <LocalCode email={settings.local_page ? address : ''} onCode={write}>
            {t.mailboxHelp}
          </LocalCode>{' '}
          <MailboxLink address={mailbox} />
        </Notice>
      )}
      <div className="spread small">
        <button type="button" className="link-button" disabled={resend.isBusy} onClick={() => void resend.submit()}>
          {t.resend}
        </button>
        <Link to="/login">{t.toLogin}</Link>
      </div>
    </Welcome>
  )
}
