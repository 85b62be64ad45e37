import { randomBytes, randomInt } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ProgramLoginRecord } from '../../domain/records/program-login.ts'
import { programLoginStore } from '../auth/store.ts'
import { type Tokens, tokenDays } from '../auth/tokens.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { lockUser } from '../parents.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { DerivedSecrets } from './derived-secrets.ts'

interface ProgramLoginsDeps {
  collections: Pick<Collections, 'programLogins' | 'users'>
  transaction: RunInTransaction
  secrets: Pick<DerivedSecrets, 'loginCodeHash'>
  tokens: Pick<Tokens, 'sign'>
  frontendUrl: string
}

const codeLetters = 'BCDFGHJKLMNPQRSTVWXZ'
const codeLength = 8
export const codeValidityMs = 10 * 60 * 1000
/** How long a program waits between two questions. */
const intervalSeconds = 5

/**
 * Logins of programs, after the device grant of OAuth (RFC 8628): the program shows a short code, a person who is logged
 * in confirms it in the console, and the program gets a token of its own. Each step is one atomic statement on one
 * record, so that no process has to remember anything. Codes are kept as keyed hashes only.
 */
export function createProgramLogins(deps: ProgramLoginsDeps) {
  const { collections, transaction, secrets, tokens, frontendUrl } = deps
  const logins = programLoginStore(collections)
  const hashOf = (code: string) => secrets.loginCodeHash(code.toUpperCase().replaceAll(/[^A-Z]/g, ''))

  return {
    async begin(name: string) {
      const deviceCode = randomBytes(32).toString('base64url')
      for (;;) {
        const code = newCode()
        const now = new Date()
        try {
          await logins.add({
            _id: newId(),
            name,
            status: 'waiting',
            code_hash: secrets.loginCodeHash(code),
            device_hash: secrets.loginCodeHash(deviceCode),
            created_at: now,
            remove_at: new Date(now.getTime() + codeValidityMs),
          })
        } catch (error) {
          // Another login that waits has the same code.
          if (isDuplicateKey(error, 'code_hash')) continue
          throw error
        }
        return codesOf(frontendUrl, deviceCode, code)
      }
    },

    /** The token of a login that was allowed, once; until then how it stands. A code that is over is `expired`. */
    async redeem(
      deviceCode: string,
    ): Promise<{ status: 'waiting' | 'refused' | 'expired' | 'allowed'; token?: string }> {
      const deviceHash = secrets.loginCodeHash(deviceCode)
      const known = await logins.findOfDevice(deviceHash)
      if (known?.status === 'waiting' || known?.status === 'refused') return { status: known.status }
      const used = known?.status === 'allowed' ? await use(known, deviceHash) : null
      if (used?.user_id === undefined || used.project_id === undefined) return { status: 'expired' }
      const claims = { user_id: used.user_id, project_id: used.project_id, login_id: used._id }
      return { status: 'allowed', token: await tokens.sign(claims) }
    },

    /** What asks under this code, so that the person knows what they allow. Throws `not_found`. */
    async find(code: string): Promise<Pick<ProgramLoginRecord, 'name' | 'created_at'>> {
      const found = await logins.findWaiting(hashOf(code))
      if (found === null) throw unknownCode()
      return found
    },

    /**
     * Allows or refuses a login for the caller and their project. It ends with the token that allowed it. A code works
     * once. Throws `not_found`.
     */
    async decide(caller: { userId: string; projectId: string }, code: string, decision: Decision): Promise<void> {
      await transaction(async (session) => {
        await lockUser(collections, caller.userId, session)
        const decided = decidedBy(caller, decision)
        if (!(await logins.decide(hashOf(code), decided, session))) throw unknownCode()
      })
    },

    /** The logins of the user that have a token, the newest first. */
    list: logins.list,

    /** Ends a login: its token is refused from now on. Throws `not_found`. */
    async end(userId: string, loginId: string): Promise<void> {
      if (!(await logins.end(userId, loginId))) throw new AppError('not_found', 'There is no such login.')
    },
  }

  /** Begins a login that was allowed, once. It ends with the token that allowed it, if its own would be valid for longer. */
  async function use(allowed: ProgramLoginRecord, deviceHash: string): Promise<ProgramLoginRecord | null> {
    const now = new Date()
    const lastDay = now.getTime() + tokenDays * 86_400_000
    const end = new Date(Math.min(lastDay, allowed.allowed_until?.getTime() ?? lastDay))
    return logins.begin(allowed._id, deviceHash, now, end)
  }
}

type Decision = 'refused' | { allowedUntil: Date }

function decidedBy({ userId, projectId }: { userId: string; projectId: string }, decision: Decision) {
  if (decision === 'refused') return { status: decision }
  return {
    status: 'allowed' as const,
    user_id: userId,
    project_id: projectId,
    allowed_until: decision.allowedUntil,
  }
}

const newCode = (): string =>
  Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)]).join('')

function unknownCode(): AppError {
  return new AppError('not_found', 'This code is wrong, was used, or is no longer valid.')
}

function codesOf(frontendUrl: string, deviceCode: string, code: string) {
  const shown = `${code.slice(0, 4)}-${code.slice(4)}`
  const address = `${frontendUrl}/console/login-code`
  return {
    deviceCode,
    code: shown,
    address,
    addressWithCode: `${address}?code=${shown}`,
    expiresInSeconds: codeValidityMs / 1000,
    intervalSeconds,
  }
}
