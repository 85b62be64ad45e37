/**
 * Who uses an assistant: the owner of its account; a member of its project, with an account of his own; somebody else whom
 * the request names, as `personNamed` keeps the name; or somebody whom nobody names.
 */
export type Person = 'owner' | 'nameless' | `member/${string}` | `person/${string}`

export const personKinds = ['owner', 'member', 'person', 'nameless'] as const
export type PersonKind = (typeof personKinds)[number]

/**
 * What starts a run: a request of the account, a caller without an account, a call of another assistant, a schedule, or a
 * program by the Model Context Protocol.
 */
export const runOrigins = ['chat', 'public', 'asked', 'scheduled', 'mcp'] as const
export type RunOrigin = (typeof runOrigins)[number]

/** For whom a run works, and what started it. Whatever the run makes takes its rights from both. */
export interface Acting {
  person: Person
  origin: RunOrigin
}

const personPattern = /^(?:owner|nameless|(?:member|person)\/[\w-]{43})$/

export function isPerson(text: string): text is Person {
  return personPattern.test(text)
}

export function kindOf(person: Person): PersonKind {
  if (person === 'owner' || person === 'nameless') return person
  return person.startsWith('member/') ? 'member' : 'person'
}
