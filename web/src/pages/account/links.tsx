import { useConsoleSettings } from '../../lib/api.ts'
import { texts } from '../../texts/index.ts'

const t = texts.account

/** To the identity provider, where there is one. */
export function SocialLogIn() {
  if (!useConsoleSettings()?.social_login) return null
  return (
    <a className="button button-wide" href="/auth/social/login">
      {t.social}
    </a>
  )
}

/** To the local mailbox that gets the mails of the service. */
export function MailboxLink({ address }: { address: string }) {
  return (
    <a href={address} target="_blank" rel="noreferrer">
      {t.openMailbox}
    </a>
  )
}
