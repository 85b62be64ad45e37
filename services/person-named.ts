import { createHash } from 'node:crypto'
import type { Person } from '../domain/acting.ts'

/** Somebody whom a request names. The name can be a secret of an application: only its hash is kept. */
export function personNamed(name: string): Person {
  return `person/${hashOf(['person', name])}`
}

/** A member of a project, or whom his application names: nobody else shares what is kept for him. */
export function memberNamed(userId: string, name?: string): Person {
  return `member/${hashOf(['member', userId, ...(name === undefined ? [] : [name])])}`
}

function hashOf(parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
