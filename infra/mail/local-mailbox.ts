import { parseForeignJson } from '../../domain/foreign-json.ts'
import { limitBody } from '../outbound/limit-body.ts'

const limits = { bytes: 8 * 1024 * 1024 }
const limitMs = 3_000

/**
 * Reads the newest code of six digits that the local mailbox of `npm start` has for an address; null without one. The mailbox
 * answers everybody on this machine.
 */
export function createLocalMailbox(mailboxUrl: string) {
  return {
    async codeTo(address: string): Promise<string | null> {
      const response = await fetch(`${mailboxUrl}/email?to.address=${encodeURIComponent(address)}`, {
        signal: AbortSignal.timeout(limitMs),
        redirect: 'error',
      })
      if (!response.ok) return null
      const mails = parseForeignJson(await limitBody(response, limits.bytes).text(), limits)
      return Array.isArray(mails) ? newestCode(mails, address) : null
    },
  }
}

/** The mailbox lists mails in the order of their arrival. */
function newestCode(mails: readonly unknown[], address: string): string | null {
  for (const mail of mails.toReversed()) {
    if (!isMailTo(mail, address)) continue
    const code = /^(\d{6})$/m.exec(mail.text)?.[1]
    if (code !== undefined) return code
  }
  return null
}

function isMailTo(mail: unknown, address: string): mail is { text: string } {
  if (typeof mail !== 'object' || mail === null || !('text' in mail) || typeof mail.text !== 'string') return false
  const to: unknown = 'to' in mail ? mail.to : undefined
  return Array.isArray(to) && to.some((one: unknown) => isTo(one, address))
}

function isTo(one: unknown, address: string): boolean {
  return (
    typeof one === 'object' &&
    one !== null &&
    'address' in one &&
    typeof one.address === 'string' &&
    one.address.toLowerCase() === address.toLowerCase()
  )
}
