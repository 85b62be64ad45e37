import { randomUUID } from 'node:crypto'
import type { NativeKind } from '../../../domain/provider-kinds.ts'
import { member, objectsIn, rewrittenNumbers, withArgumentTexts } from '../argument-texts.ts'

/**
 * Google sends arguments as objects, and its package reads their numbers as doubles. Numbers that a double does not hold
 * pass it as marked texts, and are numbers again in the arguments of calls.
 */
export function exactArguments(kind: NativeKind) {
  if (kind !== 'google') return { rewrite: withArgumentTexts, restore: (text: string) => text }
  const mark = `number ${randomUUID()} `
  const marked = new RegExp(`"${mark}(-?[0-9.eE+-]+)"`, 'g')
  return {
    rewrite: (data: string): string =>
      data.includes('"functionCall"')
        ? rewrittenNumbers(data, { within: argumentsIn, textOf: (source) => `${mark}${source}` })
        : data,
    restore: (text: string): string => text.replaceAll(marked, '$1'),
  }
}

/** The arguments of the calls in an event. */
function argumentsIn(event: unknown): unknown[] {
  return objectsIn(member(event, 'candidates'))
    .flatMap((candidate) => objectsIn(member(candidate['content'], 'parts')))
    .map((part) => member(part['functionCall'], 'args'))
}
