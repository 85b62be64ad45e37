import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { httpAnswer } from './http-answer.ts'
import type { Watch } from './keep-running.ts'
import { exchange } from './ports.ts'
import { startServer } from './server-process.ts'
import { firstThatWorks } from './ways.ts'

const lazyJsdom = new URL('lazy-jsdom.ts', import.meta.url).href

/** Finds the mail receiver, which is one of the project's own packages. */
export async function prepareMailbox() {
  return firstThatWorks<string>('The mailbox', 'SMTP_URL', [
    { name: 'npm package maildev', attempt: async () => createRequire(import.meta.url).resolve('maildev/bin/maildev') },
  ])
}

/**
 * Starts a mail receiver with a page and a REST API (`GET /email` lists what has arrived) on `webPort`. It accepts every
 * mail, forwards none, and keeps them in `dataDir`.
 */
export async function startMailbox(options: {
  script: string
  dataDir: string
  port: number
  webPort: number
  watch?: Watch
  startSignal?: AbortSignal
}) {
  const { port, webPort } = options
  const home = path.join(options.dataDir, 'mailbox')
  mkdirSync(home, { recursive: true })
  return startServer(
    {
      name: 'The mailbox',
      command: process.execPath,
      args: [
        ['--import', lazyJsdom, options.script, '--silent', '--smtp', String(port), '--ip', '127.0.0.1'],
        ['--web', String(webPort), '--web-ip', '127.0.0.1', '--mail-directory', home],
      ].flat(),
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'mailbox.log'),
      ready: async () =>
        (await exchange(port, ''))?.startsWith('220 ') === true &&
        (await httpAnswer(`http://127.0.0.1:${webPort}/healthz`, 1_000)) !== undefined,
    },
    options.watch,
    options.startSignal,
  )
}
