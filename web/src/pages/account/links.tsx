import { Suspense } from 'react'
import type { LoginWays } from '../../lib/login-methods.ts'
import { texts } from '../../texts/index.ts'
import { lazyPart } from '../../ui/lazy-part.ts'

const Providers = lazyPart(() => import('./providers.tsx'))
const t = texts.account

/** The ways through identity providers, if there are any. */
export function OtherWays({ ways, page }: { ways: LoginWays; page: 'logIn' | 'signUp' }) {
  if (ways.providers.length === 0 && !ways.isFailed) return null
  return (
    <Suspense fallback={null}>
      <Providers ways={ways} page={page} />
    </Suspense>
  )
}

/** Link to the local mailbox that receives the service's mails. */
export function MailboxLink({ address }: { address: string }) {
  return (
    <a href={address} target="_blank" rel="noreferrer">
      {t.openMailbox}
    </a>
  )
}
