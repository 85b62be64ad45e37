import { type AdminApi, adminApi } from './admin-api.ts'

/**
 * The operator's right of the person at this machine: the service of `npm start` gives it to its own page there. Undefined
 * where it does not. It is kept in the memory of the page alone.
 */
export async function localOperator(): Promise<AdminApi | undefined> {
  const answer = await ask('/local/operator', {})
  const token = answer?.['admin_token']
  return typeof token === 'string' ? adminApi(token) : undefined
}

/** The newest code that the local mailbox has for an address. */
export async function localCode(email: string): Promise<string | undefined> {
  const answer = await ask('/local/code', { email })
  const code = answer?.['code']
  return typeof code === 'string' && /^\d{6}$/.test(code) ? code : undefined
}

async function ask(path: string, body: object): Promise<Record<string, unknown> | undefined> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    // oxlint-disable-next-line typescript/no-unsafe-return -- an answer of the service itself, each member of which is checked
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
