import path from 'node:path'
import { secretFile } from './secrets.ts'

type BannerFacts = { port: number; env: NodeJS.ProcessEnv; dataDir: string; isDemo: boolean; seconds: number }

/** What a developer needs to begin, within one screen. Secrets are named by their file, never shown. */
export function banner({ port, env, dataDir, isDemo, seconds }: BannerFacts): string {
  const api = `http://127.0.0.1:${port}`
  const relative = (file: string) => path.relative(process.cwd(), file) || '.'
  const adminToken = process.env.ADMIN_TOKEN
    ? 'as set in ADMIN_TOKEN'
    : `in ${relative(secretFile(dataDir, 'ADMIN_TOKEN'))}`
  const rows = [
    ['Console', api],
    ['API pages', `${api}/docs and ${api}/redoc`],
    ['Temporal UI', env.TEMPORAL_UI_URL ?? `the one of ${env.TEMPORAL_ADDRESS}`],
    ['Mailbox', env.MAILBOX_URL ?? 'mail goes to the server in SMTP_URL'],
    ['Model', modelLine(env, isDemo)],
    ['Admin token', adminToken],
    ['Data and logs', `${relative(dataDir)} and ${relative(path.join(dataDir, 'logs'))}`],
  ]
  const width = Math.max(...rows.map(([label]) => label?.length ?? 0)) + 2
  return `
The service is ready (${seconds.toFixed(1)} s).

${rows.map(([label, value]) => `  ${label?.padEnd(width)}${value}`).join('\n')}

How to go on:

  1. Open ${api} and create an account.
  2. The code that confirms your address is in the mailbox, not in your own mail.
  3. Drop a file into the chat and ask about it.

From a program: "npm run quickstart" in a second terminal goes from sign-up to an answer.
Ctrl-C stops everything; the data stays.
`
}

function modelLine(env: NodeJS.ProcessEnv, isDemo: boolean): string {
  if (isDemo) return 'the built-in demo model, for trying things out; set OPENAI_API_KEY for a real one'
  if (!env.OPENAI_API_KEY && !env.OPENAI_BASE_URL) return 'none: runs are answered with 503; set OPENAI_API_KEY'
  return `${env.DEFAULT_MODEL ?? 'the default'} at ${env.OPENAI_BASE_URL ?? 'api.openai.com'}`
}
