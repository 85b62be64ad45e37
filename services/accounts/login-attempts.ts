import Type from 'typebox'
import { Value } from 'typebox/value'
import { parseOwnJson } from '../../domain/json.ts'
import type { SecretBox } from '../secrets.ts'
import type { LoginAttempt } from './social-login.ts'

export const attemptLifetimeSeconds = 600

const SealedAttempt = Type.Object({
  state: Type.String(),
  nonce: Type.String(),
  codeVerifier: Type.String(),
  provider: Type.String(),
  expiresAt: Type.Number(),
})

const context = 'social-login'

/**
 * State of a login that was begun, sealed and kept by the browser, which can neither read nor change it. Expires
 * after ten minutes.
 */
export function createLoginAttempts(box: Pick<SecretBox, 'seal' | 'open'>) {
  return {
    seal: (attempt: LoginAttempt): string =>
      box.seal(JSON.stringify({ ...attempt, expiresAt: Date.now() + attemptLifetimeSeconds * 1000 }), context),

    /** Undefined unless the text was sealed here within its lifetime. */
    open(sealed: string): LoginAttempt | undefined {
      try {
        const value: unknown = parseOwnJson(box.open(sealed, context))
        if (!Value.Check(SealedAttempt, value) || value.expiresAt <= Date.now()) return undefined
        const { expiresAt: _expiresAt, ...attempt } = value
        return attempt
      } catch {
        return undefined
      }
    },
  }
}
