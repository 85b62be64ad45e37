import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import argon2 from 'argon2'
import { isAcceptablePassword, passwordLength } from '../../domain/accounts.ts'
import { AppError } from '../../domain/errors.ts'
import { createSemaphore } from '../semaphore.ts'

/**
 * argon2id (RFC 9106) with 19 MiB, two passes and one lane: the first of the equivalent settings in
 * the OWASP Password Storage Cheat Sheet. Hashes made with other settings still verify and are
 * renewed at the next login.
 */
const parameters = { type: argon2.argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const maxWaiting = 1000

export type Passwords = ReturnType<typeof createPasswords>

/**
 * Hashing runs in the thread pool of the runtime. At most half of the processors hash at once, so that many logins
 * cannot slow down open streams.
 */
export function createPasswords(slots = Math.max(1, Math.floor(availableParallelism() / 2))) {
  const { withSlot } = createSemaphore({ slots, waitingPerOwner: maxWaiting })
  const hash = async (password: string) => {
    checkNewPassword(password)
    return withSlot(() => argon2.hash(password, parameters))
  }
  let decoy: Promise<string> | undefined

  return {
    /** Throws `bad_request` for a password of the wrong length. */
    hash,
    /**
     * Takes the same time with and without a hash, so that the time does not reveal whether an account exists. A
     * password that is too long is not hashed, because its length would determine the time.
     */
    async matches(password: string, storedHash: string | undefined): Promise<boolean> {
      if (!isAcceptablePassword(password)) return false
      const compared = storedHash ?? (await (decoy ??= hash(randomBytes(16).toString('hex'))))
      const matches = await withSlot(() => argon2.verify(compared, password))
      return matches && storedHash !== undefined
    },
    needsRenewal: (storedHash: string) => argon2.needsRehash(storedHash, parameters),
  }
}

/** Throws `bad_request` for a password of the wrong length. */
export function checkNewPassword(password: string): void {
  if (!isAcceptablePassword(password)) {
    throw new AppError(
      'bad_request',
      `The password must have ${passwordLength.min} to ${passwordLength.max} characters.`,
    )
  }
}
