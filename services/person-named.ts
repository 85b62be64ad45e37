import { createHash } from 'node:crypto'
import type { Person } from '../domain/acting.ts'

/** Somebody whom a request names. The name can be a secret of an application: only its hash is kept. */
export function personNamed(name: string): Person {
  return `person/${createHash('sha256')
    .update(JSON.stringify(['person', name]))
    .digest('base64url')}`
}
