/** Why the address of an identity is not taken. */
export type EmailProblem = 'no_address' | 'not_verified' | 'not_said'

interface Claims {
  email?: unknown
  email_verified?: unknown
}

/**
 * The address of an identity, if its provider has verified it. Some providers, such as Entra ID, verify addresses and do
 * not say so: the operator names their issuers. What they deny is not taken from them either.
 */
export function verifiedEmailOf(
  { email, email_verified: verified }: Claims,
  { issuer, trusted }: { issuer: string; trusted: readonly string[] },
): { email: string } | { problem: EmailProblem } {
  if (typeof email !== 'string' || email === '') return { problem: 'no_address' }
  // Some providers send the boolean as text.
  if (verified === true || verified === 'true') return { email }
  if (verified !== undefined) return { problem: 'not_verified' }
  return trusted.some((one) => withoutSlash(one) === withoutSlash(issuer)) ? { email } : { problem: 'not_said' }
}

const withoutSlash = (issuer: string) => issuer.replace(/\/+$/, '')
