import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { ApiError, createClient, unwrap } from '../src/create-client.ts'
import type { Command } from './command.ts'
import { forget, remember, targetOf } from './credentials.ts'
import { Failure, exitCodes } from './failure.ts'
import { note, out, plainLine } from './terminal.ts'

export const login: Command = {
  name: 'login',
  summary: 'Log in with a code that you confirm in the browser',
  operands: '',
  takes: [0, 0],
  options: { 'no-browser': { type: 'boolean', help: 'only print the address' } },
  async run({ values, url: given }) {
    const { url } = await targetOf(given)
    const api = createClient({ baseUrl: url })
    const begun = await unwrap(
      api.POST('/auth/login-codes', { body: { name: `assistant on ${hostname()}`.slice(0, 200) } }),
    )
    const address = plainLine(begun.verification_uri_complete)
    out(`Open ${address}\nand confirm this code: ${plainLine(begun.user_code)}\n`)
    if (process.stdout.isTTY && values['no-browser'] !== true) openBrowser(address)
    const endsAt = Date.now() + begun.expires_in * 1000
    const intervalMs = Number(process.env['ASSISTANT_LOGIN_INTERVAL_MS'] ?? begun.interval * 1000)
    while (Date.now() < endsAt) {
      await setTimeout(intervalMs)
      const { status, jwt_token: token } = await unwrap(
        api.POST('/auth/login-codes/redeem', { body: { device_code: begun.device_code } }),
      )
      if (token !== null) {
        await remember(url, token)
        out(`You are logged in to ${url}.\n`)
        return
      }
      if (status === 'refused') throw new Failure('The login was refused.', exitCodes.login)
      if (status === 'expired') break
    }
    throw new Failure('The code is no longer valid: run "assistant login" again.', exitCodes.login)
  },
}

export const logout: Command = {
  name: 'logout',
  summary: 'End this login, at the service too',
  operands: '',
  takes: [0, 0],
  options: {},
  async run({ url: given }) {
    const { url, token } = await targetOf(given)
    if (token !== undefined) {
      const api = createClient({ baseUrl: url, token: () => token })
      // A login that was ended elsewhere is gone, which is what is wanted.
      await unwrap(api.DELETE('/user/logins/{login_id}', { params: { path: { login_id: 'current' } } })).catch(
        (error: unknown) => {
          if (!(error instanceof ApiError)) note('The service cannot be reached: end the login in the console.')
        },
      )
    }
    await forget(url)
    out(`You are logged out of ${url}.\n`)
  },
}

/** Without a shell, and only for addresses of pages: the service chose the text. */
function openBrowser(address: string): void {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) return
  const { href } = new URL(address)
  const programs: Record<string, [string, string[]]> = {
    darwin: ['open', [href]],
    win32: ['rundll32', ['url.dll,FileProtocolHandler', href]],
  }
  const [program, args] = programs[process.platform] ?? ['xdg-open', [href]]
  const child = spawn(program, args, { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
