import { inject } from 'vitest'
import { eventually } from './eventually.ts'

export interface ReceivedMail {
  to: { address: string }[]
  subject: string
  text: string
  html?: string
  headers: Record<string, string>
}

/** Tests of a service that runs elsewhere are told where its mail arrives. */
function mailboxUrl(): string {
  if (!process.env['API_URL']) return inject('services').mailboxUrl
  const url = process.env['MAILBOX_URL']
  if (!url) throw new Error('set MAILBOX_URL: this test signs up a user and reads the code from the mail')
  return url.replace(/\/+$/, '')
}

/** All mail to an address so far, oldest first. */
export async function mailsTo(address: string): Promise<ReceivedMail[]> {
  const response = await fetch(`${mailboxUrl()}/email?to.address=${encodeURIComponent(address)}`)
  const mails = (await response.json()) as ReceivedMail[]
  return mails.filter((mail) => mail.to.some((to) => to.address === address))
}

/** Waits for the `count`th mail to an address. */
export async function mailTo(address: string, count = 1): Promise<ReceivedMail> {
  return eventually(`mail ${count} to ${address}`, async () => (await mailsTo(address))[count - 1])
}

/** Waits for the `count`th code that was sent to an address. */
export async function codeTo(address: string, count = 1): Promise<string> {
  const code = /^(\d{6})$/m.exec((await mailTo(address, count)).text)?.[1]
  if (code === undefined) throw new Error('the mail holds no code')
  return code
}
