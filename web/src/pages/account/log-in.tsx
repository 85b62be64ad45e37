import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError, api, unwrap } from '../../lib/api.ts'
import { enter } from '../../lib/enter.ts'
import { hasExpired } from '../../lib/session.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PasswordField } from '../../ui/password-field.tsx'
import { SocialLogIn } from './links.tsx'
import { Welcome } from './welcome.tsx'

const t = texts.account

export function LogIn() {
  const { next } = useSearch({ from: '/login' })
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const navigate = useNavigate()
  const router = useRouter()
  const form = useSubmit(async () => {
    try {
      const { jwt_token: token } = await unwrap(api.POST('/auth/login', { body: { email, password } }))
      enter(token)
      if (next) router.history.push(next)
      else await navigate({ to: '/console/chat' })
    } catch (error) {
      const isUnverified = error instanceof ApiError && error.status === 401 && /verif/i.test(error.message)
      if (!isUnverified) throw error
      await navigate({ to: '/verify', search: { email } })
    }
  })
  return (
    <Welcome title={t.logIn}>
      <form className="form" onSubmit={form.onSubmit}>
        {form.problem ? (
          <Notice tone="danger">{form.problem}</Notice>
        ) : (
          hasExpired() && <Notice>{t.sessionEnded}</Notice>
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
        <PasswordField label={t.password} autoComplete="current-password" value={password} onValue={setPassword} />
        <Button type="submit" look="primary" wide busy={form.isBusy}>
          {t.logIn}
        </Button>
      </form>
      <SocialLogIn />
      <div className="spread small">
        <span>
          {t.noAccount} <Link to="/signup">{t.signUp}</Link>
        </span>
        <Link to="/forgot-password">{t.forgot}</Link>
      </div>
    </Welcome>
  )
}
