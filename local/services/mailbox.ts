import { createRequire } from 'node:module'
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { exchange, freePort } from './ports.ts'
import type { Watch } from './keep-running.ts'
import { startServer } from './server-process.ts'
import { firstThatWorks } from './ways.ts'

/** Finds the mail receiver, which is one of the project's own packages. */
export async function prepareMailbox() {
  return firstThatWorks<string>('The mailbox', 'SMTP_URL', [
    { name: 'npm package maildev', attempt: async () => createRequire(import.meta.url).resolve('maildev/bin/maildev') },
  ])
}

/**
 * Starts a mail receiver with a page and a REST API (`GET /email` lists what has arrived). It accepts every mail,
 * forwards none, and keeps them in `dataDir`. `smtpUrl` is for senders, `url` for people.
 */
export async function startMailbox(options: { script: string; dataDir: string; port?: number; watch?: Watch }) {
  const port = options.port ?? (await freePort())
  const webPort = await freePort()
  const home = path.join(options.dataDir, 'mailbox')
  mkdirSync(home, { recursive: true })
  const server = await startServer(
    {
      name: 'The mailbox',
      command: process.execPath,
      args: [
        [options.script, '--silent', '--smtp', String(port), '--ip', '127.0.0.1'],
        ['--web', String(webPort), '--web-ip', '127.0.0.1', '--mail-directory', home],
      ].flat(),
      cwd: home,
      logFile: path.join(options.dataDir, 'logs', 'mailbox.log'),
      ready: async () => greets(await exchange(port, '')) && greets(await exchange(webPort, healthRequest)),
    },
    options.watch,
  )
  return { ...server, smtpUrl: `smtp://127.0.0.1:${port}`, url: `http://127.0.0.1:${webPort}` }
}

const healthRequest = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'
const greets = (answer: string | undefined) => answer !== undefined && /^(220 |HTTP\/1\.1 200)/.test(answer)
