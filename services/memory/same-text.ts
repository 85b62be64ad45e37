import { createHash } from 'node:crypto'
import type { Person } from '../../domain/acting.ts'
import { invalidInput } from '../../domain/errors.ts'
import { memoryLimits } from '../../domain/records/memory.ts'

/** A person in a fact: of use in this assistant only. */
export function callerHash(assistantId: string, person: Person): string {
  return hashOf(['caller', assistantId, person])
}

/** The same for texts that differ only in case, spaces and forms of characters. */
export function sameTextHash(text: string): string {
  return hashOf(['text', text.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim()])
}

/** The text as it is stored. Throws `invalid_input` for one that shows nothing, or is too long. */
export function storedText(text: string): string {
  const trimmed = text.toWellFormed().trim()
  if (trimmed === '') throw invalidInput(['body', 'text'], 'shows nothing')
  if (trimmed.length > memoryLimits.textLength)
    throw invalidInput(['body', 'text'], `is longer than ${memoryLimits.textLength} characters`, 'too_long')
  return trimmed
}

function hashOf(parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
