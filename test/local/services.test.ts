import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { launchLocalServices } from '../../local/services/index.ts'
import { accepts } from '../../local/services/ports.ts'

let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-services-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

const portOf = (address: string | undefined) => Number(new URL(address ?? '').port)
const launch = (need: ('redis' | 'mailbox')[]) => launchLocalServices({ dataDir, env: {}, log: () => undefined, need })

test('servers answer at the addresses that were known before they answered', async () => {
  const { env, ready, stop } = await launch(['redis', 'mailbox'])
  await ready
  try {
    for (const name of ['REDIS_URL', 'SMTP_URL', 'MAILBOX_URL'])
      expect(await accepts(portOf(env[name])), name).toBe(true)
  } finally {
    await stop()
  }
  for (const name of ['REDIS_URL', 'SMTP_URL', 'MAILBOX_URL'])
    expect(await accepts(portOf(env[name])), name).toBe(false)
})

test('servers that are stopped while they start leave nothing behind', async () => {
  const { env, ready, stop } = await launch(['mailbox'])
  await stop()
  await expect(ready).rejects.toThrow()
  expect(await accepts(portOf(env['MAILBOX_URL']))).toBe(false)
})

test('a server that cannot start is named, and the others are stopped', async () => {
  // It needs a folder there.
  await writeFile(path.join(dataDir, 'redis'), '')
  const { env, ready } = await launch(['redis', 'mailbox'])
  await expect(ready).rejects.toThrow(path.join(dataDir, 'redis'))
  expect(await accepts(portOf(env['MAILBOX_URL']))).toBe(false)
})
