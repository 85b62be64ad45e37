import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepareTimeSkippingServer, startLocalServices } from '../../local/services/index.ts'

/** Addresses of the real servers that every test file shares: `inject('services')`. */
export type TestServices = {
  temporalAddress: string
  /** Its web pages. */
  temporalUiUrl: string
  mongodbUri: string
  redisUrl: string
  smtpUrl: string
  mailboxUrl: string
  /** Executable of the time-skipping server; tests start it themselves. */
  timeSkippingPath: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    services: TestServices
  }
}

/** Starts the servers once for a test run, in a folder that goes away with it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // Tests of a service that runs elsewhere need no servers here; only those in test/http can be used then.
  if (process.env['API_URL']) return async () => {}
  const dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-test-'))
  const log = (line: string) => console.log(`[services] ${line}`)
  const [timeSkipping, local] = await Promise.all([
    prepareTimeSkippingServer(log),
    // Never the addresses of the developer's own servers: tests fill and empty what they are given.
    startLocalServices({ dataDir, env: {}, log }),
  ])
  const address = (name: string) => {
    const value = local.env[name]
    if (!value) throw new Error(`no local service gave ${name}`)
    return value
  }
  project.provide('services', {
    temporalAddress: address('TEMPORAL_ADDRESS'),
    temporalUiUrl: address('TEMPORAL_UI_URL'),
    mongodbUri: address('MONGODB_URI'),
    redisUrl: address('REDIS_URL'),
    smtpUrl: address('SMTP_URL'),
    mailboxUrl: address('MAILBOX_URL'),
    timeSkippingPath: timeSkipping.executablePath,
  })
  return async () => {
    await local.stop()
    await rm(dataDir, { recursive: true, force: true })
  }
}
