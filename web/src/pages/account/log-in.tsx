import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { Suspense, useState } from 'react'
import { takePlace } from '../../lib/after-login.ts'
import { ApiError, api, unwrap } from '../../lib/api.ts'
import { enter } from '../../lib/enter.ts'
import { useLoginWays, useTypedEmail } from '../../lib/login-methods.ts'
import { whyEnded } from '../../lib/session.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { lazyPart } from '../../ui/lazy-part.ts'
import { Notice } from '../../ui/notice.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { OtherWays } from './links.tsx'
import { Welcome } from './welcome.tsx'

const ChangedElsewhere = lazyPart(() => import('./changed-elsewhere.tsx'))
const t = texts.account

export function LogIn() {
  const { next } = useSearch({ from: '/login' })
  const [email, setEmail] = useTypedEmail()
  const [password, setPassword] = useState('')
  const navigate = useNavigate()
  const router = useRouter()
  const ways = useLoginWays(email)
  const ended = whyEnded()
  const form = useSubmit(async () => {
    const [provider] = ways.providers
    if (!ways.hasPassword && provider !== undefined) return window.location.assign(provider.url)
    try {
      const { jwt_token: token } = await unwrap(api.POST('/auth/login', { body: { email, password } }))
      enter(token)
      setEmail('')
      router.history.push(next ?? takePlace())
    } catch (error) {
      const isUnverified = error instanceof ApiError && error.status === 401 && /verif/i.test(error.message)
      if (!isUnverified) throw error
      await navigate({ to: '/verify', search: { email } })
    }
  })
  return (
    <Welcome title={t.logIn}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem === undefined && ended === 'password' && (
          <Suspense>
            <ChangedElsewhere />
          </Suspense>
        )}
        {form.problem === undefined && ended === 'time' && <Notice>{t.sessionEnded}</Notice>}
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
            <PasswordField label={t.password} autoComplete="current-password" value={password} onValue={setPassword} />
            {form.problem && <Notice tone="danger">{form.problem}</Notice>}
            <Button type="submit" look="primary" wide busy={form.isBusy}>
              {t.logIn}
            </Button>
          </>
        )}
      </form>
      <OtherWays ways={ways} page="logIn" />
      <div className="spread small">
        <span>
          {t.noAccount} <Link to="/signup">{t.signUp}</Link>
        </span>
        {ways.hasPassword && <Link to="/forgot-password">{t.forgot}</Link>}
      </div>
    </Welcome>
  )
}
