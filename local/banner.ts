import path from 'node:path'
import type { FoundServer } from '../domain/model-catalog.ts'
import { seemsToChat } from '../domain/served-models.ts'
import { secretFile } from './secrets.ts'

type BannerFacts = {
  port: number
  env: NodeJS.ProcessEnv
  dataDir: string
  isDemo: boolean
  found: FoundServer[]
  seconds: number
}

/** What a developer needs to begin, within one screen. Secrets are named by their file, never shown. */
export function banner({ port, env, dataDir, isDemo, found, seconds }: BannerFacts): string {
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
    ['Model', modelLine(env, isDemo, found)],
    ['Admin token', adminToken],
    ['Data and logs', `${relative(dataDir)} and ${relative(path.join(dataDir, 'logs'))}`],
  ]
  const width = Math.max(...rows.map(([label]) => label?.length ?? 0)) + 2
  return `
The service is ready (${seconds.toFixed(1)} s).

${rows.map(([label, value]) => `  ${label?.padEnd(width)}${value}`).join('\n')}

How to go on:

  1. Open ${api} and create an account.
  2. The code that confirms your address arrives in the page, and in the mailbox, not in your own mail.
  3. Drop a file into the chat and ask about it.

From a program: "npm run quickstart" in a second terminal goes from sign-up to an answer.
Ctrl-C stops everything; the data stays.
`
}

function modelLine(env: NodeJS.ProcessEnv, isDemo: boolean, found: FoundServer[]): string {
  const page = `http://127.0.0.1:${env.PORT}/admin/#models`
  const [only, ...more] = found
  if (only !== undefined && more.length === 0 && (isDemo || !env.OPENAI_BASE_URL))
    return `${firstChatModel(only)} at ${only.name} on this machine, unless another is chosen at ${page}`
  if (only !== undefined) return `choose one of ${found.map(({ name }) => name).join(', ')} at ${page}`
  if (isDemo) return `the built-in demo model, for trying things out; connect a real one at ${page}`
  if (!env.OPENAI_API_KEY && !env.OPENAI_BASE_URL) return 'none: runs are answered with 503; set OPENAI_API_KEY'
  return `${env.DEFAULT_MODEL ?? 'the default'} at ${env.OPENAI_BASE_URL ?? 'api.openai.com'}`
}

function firstChatModel({ models }: FoundServer): string {
  return (models.find(({ id }) => seemsToChat(id)) ?? models[0])?.id ?? ''
}
