import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createTransport } from 'nodemailer'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { prepareLocalServices } from '../../local/services/index.ts'
import { accepts } from '../../local/services/ports.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-services-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const portOf = (address: string | undefined) => Number(new URL(address ?? '').port)
const prepare = (need: ('redis' | 'mailbox')[]) =>
  prepareLocalServices({ dataDir, env: {}, log: () => undefined, need })

test('servers answer at the addresses that were known before they answered', async () => {
  const { env, start, stop } = await prepare(['redis', 'mailbox'])
  await start()
  try {
    for (const name of ['REDIS_URL', 'SMTP_URL', 'MAILBOX_URL'])
      expect(await accepts(portOf(env[name])), name).toBe(true)
  } finally {
    await stop()
  }
  for (const name of ['REDIS_URL', 'SMTP_URL', 'MAILBOX_URL'])
    expect(await accepts(portOf(env[name])), name).toBe(false)
})

test('the mailbox shows the HTML of a mail without its scripts', async () => {
  const { env, start, stop } = await prepare(['mailbox'])
  await start()
  const mailer = createTransport(env['SMTP_URL'])
  try {
    const html = '<p>Welcome</p><script>alert(1)</script>'
    for (const subject of ['first', 'second'])
      await mailer.sendMail({ from: 'us@example.com', to: 'you@example.com', subject, html })
    const mails: any = await (await fetch(`${env['MAILBOX_URL']}/email`)).json()
    expect(mails.map((mail: any) => mail.subject)).toEqual(['first', 'second'])
    for (const { id } of mails) {
      const mail: any = await (await fetch(`${env['MAILBOX_URL']}/email/${id}`)).json()
      expect(mail.html).toContain('<p>Welcome</p>')
      expect(mail.html).not.toContain('alert')
    }
  } finally {
    mailer.close()
    await stop()
  }
})

test('servers that are stopped while they start leave nothing behind', async () => {
  const { env, start, stop } = await prepare(['mailbox'])
  const starting = start()
  await Promise.all([expect(starting).rejects.toThrow(), stop()])
  expect(await accepts(portOf(env['MAILBOX_URL']))).toBe(false)
})

test('a server that cannot start is named, and the others are stopped', async () => {
  // It needs a folder there.
  await writeFile(path.join(dataDir, 'redis'), '')
  const { env, start } = await prepare(['redis', 'mailbox'])
  await expect(start()).rejects.toThrow(path.join(dataDir, 'redis'))
  expect(await accepts(portOf(env['MAILBOX_URL']))).toBe(false)
})
