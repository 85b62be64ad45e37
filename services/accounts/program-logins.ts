import { randomBytes, randomInt } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ProgramLoginRecord } from '../../domain/records/program-login.ts'
import { type Tokens, tokenDays } from '../auth/tokens.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import { holdUser } from '../parents.ts'
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
const listed = 100

/**
 * Logins of programs, after the device grant of OAuth (RFC 8628): the program shows a short code, a person who is logged
 * in confirms it in the console, and the program gets a token of its own. Each step is one atomic statement on one
 * record, so that no process has to remember anything. Codes are kept as keyed hashes only.
 */
export function createProgramLogins(deps: ProgramLoginsDeps) {
  const { collections, transaction, secrets, tokens, frontendUrl } = deps
  const { programLogins } = collections
  const waiting = (code: string) => {
    const letters = code.toUpperCase().replaceAll(/[^A-Z]/g, '')
    return { code_hash: secrets.loginCodeHash(letters), status: 'waiting', remove_at: { $gt: new Date() } } as const
  }

  return {
    async begin(name: string) {
      const deviceCode = randomBytes(32).toString('base64url')
      for (;;) {
        const code = newCode()
        const now = new Date()
        try {
          await programLogins.create({
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
      const own = { device_hash: secrets.loginCodeHash(deviceCode), remove_at: { $gt: new Date() } }
      const used = await useAllowed(programLogins, own)
      if (used?.user_id !== undefined && used.project_id !== undefined) {
        const claims = { user_id: used.user_id, project_id: used.project_id, login_id: used._id }
        return { status: 'allowed', token: await tokens.sign(claims) }
      }
      const known = await programLogins.findOne(own, { status: 1 }).lean<Pick<ProgramLoginRecord, 'status'>>()
      // One that was allowed between the two statements is redeemed by the next question.
      if (known?.status === 'waiting' || known?.status === 'allowed') return { status: 'waiting' }
      return { status: known?.status === 'refused' ? 'refused' : 'expired' }
    },

    /** What asks under this code, so that the person knows what they allow. Throws `not_found`. */
    async find(code: string): Promise<Pick<ProgramLoginRecord, 'name' | 'created_at'>> {
      const found = await programLogins.findOne(waiting(code)).lean<ProgramLoginRecord>()
      if (found === null) throw unknownCode()
      return found
    },

    /**
     * Allows or refuses a login for the caller and their project. It ends with the token that allowed it. A code works
     * once. Throws `not_found`.
     */
    async decide(caller: { userId: string; projectId: string }, code: string, decision: Decision): Promise<void> {
      await transaction(async (session) => {
        await holdUser(collections, caller.userId, session)
        const decided = decidedBy(caller, decision)
        const { matchedCount } = await programLogins.updateOne(
          waiting(code),
          { $set: decided, $unset: { code_hash: 1 } },
          { session },
        )
        if (matchedCount === 0) throw unknownCode()
      })
    },

    /** The logins of the user that have a token, the newest first. */
    list: (userId: string): Promise<ProgramLoginRecord[]> =>
      programLogins
        .find({ user_id: userId, status: 'used', remove_at: { $gt: new Date() } })
        .sort({ created_at: -1, _id: -1 })
        .limit(listed)
        .lean<ProgramLoginRecord[]>()
        .exec(),

    /** Ends a login: its token is refused from now on. Throws `not_found`. */
    async end(userId: string, loginId: string): Promise<void> {
      const { deletedCount } = await programLogins.deleteOne({ _id: loginId, user_id: userId })
      if (deletedCount === 0) throw new AppError('not_found', 'There is no such login.')
    },
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

/** Begins a login that was allowed, once. It ends with the token that allowed it, if its own would be valid for longer. */
async function useAllowed(
  programLogins: Collections['programLogins'],
  own: { device_hash: string; remove_at: { $gt: Date } },
): Promise<ProgramLoginRecord | null> {
  const now = new Date()
  const allowed = await programLogins.findOne({ ...own, status: 'allowed' }).lean<ProgramLoginRecord>()
  if (allowed === null) return null
  const lastDay = now.getTime() + tokenDays * 86_400_000
  const end = new Date(Math.min(lastDay, allowed.allowed_until?.getTime() ?? lastDay))
  return programLogins
    .findOneAndUpdate(
      { _id: allowed._id, ...own, status: 'allowed' },
      { $set: { status: 'used', last_used_at: now, remove_at: end }, $unset: { device_hash: 1 } },
    )
    .lean<ProgramLoginRecord>()
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
