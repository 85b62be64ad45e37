/**
 * Code without characters beyond Latin-1. V8 holds a text with one such character, even in a comment, with two bytes for
 * each of its characters. In strings, templates and patterns the escapes mean the same; after a backslash they would not.
 */
export function oneByteSource(code: string): string {
  return code.replaceAll(/(?<!\\)[^\0-\u{FF}]/gu, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
}
