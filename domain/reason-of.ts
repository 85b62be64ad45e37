import { cutText } from './cut-text.ts'

const maxCauses = 5
const maxLength = 1000

/**
 * The reason of a failure on one line: the messages of an error and its causes. Connection errors keep theirs in
 * `errors`.
 */
export function reasonOf(error: unknown): string {
  const reasons: string[] = []
  for (let at = error, depth = 0; at !== undefined && depth < maxCauses; depth++) {
    const inner: unknown = at instanceof AggregateError ? at.errors[0] : undefined
    const text =
      at instanceof Error ? at.message || (inner === undefined ? at.name : '') : typeof at === 'string' ? at : ''
    if (text !== '' && !reasons.some((known) => known.includes(text))) reasons.push(text)
    at = inner ?? (at instanceof Error ? at.cause : undefined)
  }
  return cutText(reasons.join(': ').replaceAll(/\s+/g, ' '), maxLength)
}
