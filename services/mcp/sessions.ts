import { randomUUID } from 'node:crypto'
import type { KeyedHashes } from '../secrets.ts'

export type McpSessions = ReturnType<typeof createMcpSessions>

/**
 * Ids of sessions of the Model Context Protocol. Nothing is stored: an id carries a code that only a process of this
 * service can make, so that each of them knows which ids are its own, for which assistant.
 */
export function createMcpSessions(hashes: KeyedHashes) {
  const codes = (assistantId: string, session: string) => hashes(JSON.stringify([assistantId, session]))
  return {
    begin(assistantId: string): string {
      const session = randomUUID()
      return `${session}.${codes(assistantId, session)[0]}`
    },

    isKnown(assistantId: string, id: string): boolean {
      const [session = '', code = '', ...rest] = id.split('.')
      return rest.length === 0 && codes(assistantId, session).includes(code)
    },
  }
}
