import { Link, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { createClient } from '../../../../client/src/index.ts'
import { takePlace } from '../../lib/after-login.ts'
import { unwrap } from '../../lib/api.ts'
import { enter } from '../../lib/enter.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Welcome } from './welcome.tsx'

const t = texts.account

/**
 * The page at which social login ends. It removes the token from the address at once, so that no history contains it.
 * Every site can lead a browser to this page with a token of its own, so that the visitor works in a stranger's
 * account without noticing it (login CSRF). A token is taken at once only if the service gave it to this browser;
 * otherwise the page shows whose it is and asks.
 */
export function AuthCallback() {
  const router = useRouter()
  const [token] = useState(() => new URLSearchParams(window.location.search).get('jwt_token'))
  const [account, setAccount] = useState<string>()
  const [isFailed, setFailed] = useState(token === null)
  useEffect(() => {
    window.history.replaceState(window.history.state, '', window.location.pathname)
    if (token === null) return
    if (wasGivenHere(token)) {
      enter(token)
      router.history.replace(takePlace())
      return
    }
    ownerOf(token).then(setAccount, () => setFailed(true))
  }, [token, router])
  const take = () => {
    if (token !== null) enter(token)
    router.history.replace(takePlace())
  }
  return (
    <Welcome title={t.logIn}>
      {isFailed && <Notice tone="danger">{t.callbackFailed}</Notice>}
      {account !== undefined && (
        <>
          <Notice tone="warn">{t.callbackForeign(account)}</Notice>
          <Button look="primary" wide onClick={take}>
            {t.callbackTake(account)}
          </Button>
        </>
      )}
      {(isFailed || account !== undefined) && <Link to="/login">{t.toLogin}</Link>}
    </Welcome>
  )
}

/** The service leaves the end of a token that it gives to a browser in a cookie of that browser. */
function wasGivenHere(token: string): boolean {
  const cookies = document.cookie.split(/; */)
  return cookies.includes(`social_login_end=${token.slice(-22)}`)
}

async function ownerOf(token: string): Promise<string> {
  const user = await unwrap(createClient({ baseUrl: '', token: () => token }).GET('/user/'))
  return user.email ?? user.user_id
}
