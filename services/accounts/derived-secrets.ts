import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { CodeReference } from '../../domain/contracts/email-verification.ts'

export type DerivedSecrets = ReturnType<typeof createDerivedSecrets>

/**
 * Codes and reset tokens are derived, never stored: they are computed from the workflow run, the number of the mail
 * and the service's key, so that a retried activity sends the same code again. Keys are derived from `SECRETS_KEY`
 * by HKDF (RFC 5869), one for each purpose.
 */
export function createDerivedSecrets(secretsKey: Uint8Array) {
  const keyFor = (purpose: string) => Buffer.from(hkdfSync('sha256', secretsKey, '', purpose, 32))
  const codeKey = keyFor('email-verification-code')
  const resetKey = keyFor('password-reset-token')

  const verificationCode = ({ runId, send }: CodeReference): string => {
    const mac = createHmac('sha256', codeKey).update(`${runId}:${send}`).digest()
    return truncate(mac).toString().padStart(6, '0')
  }

  const exportKey = keyFor('export-link')
  const exportSignature = (userId: string, expires: number): string =>
    createHmac('sha256', exportKey).update(`${expires}:${userId}`).digest('base64url')

  const scheduleMailKey = keyFor('schedule-mail-link')
  const scheduleMailSignature = (scheduleId: string, stops: number): string =>
    createHmac('sha256', scheduleMailKey).update(`${stops}:${scheduleId}`).digest('base64url')

  const invitationKey = keyFor('invitation-link')
  const invitationToken = ({ memberId, send }: { memberId: string; send: number }): string =>
    `${memberId}.${createHmac('sha256', invitationKey).update(`${send}:${memberId}`).digest('base64url')}`

  const loginCodeKey = keyFor('login-code')

  return {
    /** The hash under which the codes of a program's login are stored. */
    loginCodeHash: (code: string): string => createHmac('sha256', loginCodeKey).update(code).digest('hex'),
    /** Six digits. */
    verificationCode,
    isVerificationCode(code: CodeReference, given: string): boolean {
      return areEqual(verificationCode(code), given)
    },
    /** Signs a link to the archive of a user's data; `expires` in milliseconds since 1970. */
    exportSignature,
    isExportSignature(userId: string, expires: number, given: string): boolean {
      return areEqual(exportSignature(userId, expires), given)
    },
    /** Signs the link that stops the mails of a schedule; `stops`: how often such links have stopped them before. */
    scheduleMailSignature,
    isScheduleMailSignature(scheduleId: string, stops: number, given: string): boolean {
      return areEqual(scheduleMailSignature(scheduleId, stops), given)
    },
    /** Of the link of an invitation; `send`: the number of its mail. It names the invitation before a dot. */
    invitationToken,
    isInvitationToken(invitation: { memberId: string; send: number }, given: string): boolean {
      return areEqual(invitationToken(invitation), given)
    },
    /** 256 bits in base64url. */
    resetToken: (tokenId: string): string => createHmac('sha256', resetKey).update(tokenId).digest('base64url'),
  }
}

/** The hash under which a reset token is stored. */
export function resetTokenHash(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Dynamic truncation to six decimal digits (RFC 4226, section 5.3). */
function truncate(mac: Buffer): number {
  const offset = mac.readUInt8(mac.length - 1) & 0x0f
  return (mac.readUInt32BE(offset) & 0x7fffffff) % 1_000_000
}

/** In constant time: hashes have one length. */
function areEqual(expected: string, given: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(expected), digest(given))
}
