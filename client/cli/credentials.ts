import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import path from 'node:path'
import { Failure, wrongUse } from './failure.ts'

interface Stored {
  /** The service of the last login. */
  url?: string
  tokens: Record<string, string>
}

/** Where to send requests, and with which token: a token is only sent to the service that issued it. */
export interface Target {
  url: string
  token: string | undefined
}

const defaultUrl = 'http://127.0.0.1:8100'
const { env } = process

function fileOf(): string {
  const folder = env['XDG_CONFIG_HOME'] || path.join(homedir(), '.config')
  return path.join(folder, 'assistant-platform', 'credentials.json')
}

/** `ASSISTANT_URL` and `ASSISTANT_TOKEN` win over what a login has stored; an option wins over both. */
export async function targetOf(option: string | undefined): Promise<Target> {
  const stored = await read()
  const url = serviceUrl(option ?? (env['ASSISTANT_URL'] || undefined) ?? stored.url ?? defaultUrl)
  return { url, token: env['ASSISTANT_TOKEN'] || stored.tokens[url] }
}

export async function remember(url: string, token: string): Promise<void> {
  const { tokens } = await read()
  await write({ url, tokens: { ...tokens, [url]: token } })
}

export async function forget(url: string): Promise<void> {
  const { url: current, tokens } = await read()
  const rest = Object.fromEntries(Object.entries(tokens).filter(([known]) => known !== url))
  if (Object.keys(rest).length === 0) await rm(fileOf(), { force: true })
  else await write({ tokens: rest, ...(current !== undefined && current !== url && { url: current }) })
}

function serviceUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw wrongUse(`"${text}" is not an address of a service, such as https://assistants.example.com.`)
  return text.replace(/\/+$/, '')
}

async function read(): Promise<Stored> {
  const text = await readFile(fileOf(), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return '{}'
    throw new Failure(`${fileOf()} cannot be read.`)
  })
  try {
    const value = JSON.parse(text) as Partial<Stored>
    const tokens = Object.entries(value.tokens ?? {}).filter(([, token]) => typeof token === 'string')
    return { tokens: Object.fromEntries(tokens), ...(typeof value.url === 'string' && { url: value.url }) }
  } catch {
    throw new Failure(`${fileOf()} is damaged: remove it and log in again.`)
  }
}

/** Only the user may read it. It is written beside its place first, so that it is never half there. */
async function write(stored: Stored): Promise<void> {
  const file = fileOf()
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}`
  await writeFile(fresh, `${JSON.stringify(stored, undefined, 2)}\n`, { mode: 0o600 })
  await chmod(fresh, 0o600)
  await rename(fresh, file)
}
