import { texts } from '../texts/index.ts'

interface Person {
  first_name?: string | null | undefined
  last_name?: string | null | undefined
  email?: string | null | undefined
}

/** What a person is called: the name, without one the address. */
export function personName({ first_name: first, last_name: last, email }: Person): string {
  return [first, last].filter(Boolean).join(' ') || email || texts.roles.nameless
}

/** At most two letters, of a name those of its first and last word. */
export function initialsOf(name: string): string {
  const words = name.includes('@') ? [name] : name.split(/\s+/).filter(Boolean)
  const ends = words.length > 1 ? [words[0], words.at(-1)] : words
  return ends.map((word = '') => Array.from(word)[0]?.toLocaleUpperCase() ?? '').join('') || '?'
}
