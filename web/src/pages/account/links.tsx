import { useConsoleSettings } from '../../lib/api.ts'
import { texts } from '../../texts/index.ts'

const t = texts.account

/** Link to the identity provider, if there is one. */
export function SocialLogIn() {
  if (!useConsoleSettings()?.social_login) return null
  return (
    <a className="button button-wide" href="/auth/social/login">
      {t.social}
    </a>
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
