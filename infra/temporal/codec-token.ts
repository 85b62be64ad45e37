import { createHmac } from 'node:crypto'
import type { Settings } from '../config.ts'

/** The token of the codec endpoint: the setting, or else derived from the key (HMAC-SHA-256). */
export function codecTokenOf({
  temporalCodecKey,
  temporalCodecToken,
}: Pick<Settings, 'temporalCodecKey'> & Partial<Pick<Settings, 'temporalCodecToken'>>): string | undefined {
  if (temporalCodecToken !== undefined || temporalCodecKey === undefined) return temporalCodecToken
  return createHmac('sha256', temporalCodecKey).update('codec endpoint').digest('base64url')
}
