import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

export type IntentionKind =
  | 'account'
  | 'project'
  | 'assistant'
  | 'thread'
  | 'message'
  | 'run'
  | 'completion'
  | 'upload'
  | 'deletion'

/** Something that the client wants to happen once. Its id is the idempotency key, and part of what it creates. */
export interface Intention {
  id: string
  kind: IntentionKind
  facts: Readonly<Record<string, string>>
  begunAt: number
  /** When the service acknowledged it, or the client gave up. */
  endedAt: number | undefined
  /** The definite answer of the service; undefined if there was none. */
  acknowledged: Readonly<Record<string, string>> | undefined
  /** What the intention created has been deleted by the client since. */
  withdrawn: boolean
}

export interface Problem {
  kind: 'lost' | 'doubled' | 'wrong'
  what: string
  /** When it happened, to find the fault that caused it. */
  from: number
  until: number
}

export function problemOf(
  kind: Problem['kind'],
  { id, kind: of, begunAt }: Intention,
  what: string,
  until: number,
): Problem {
  return { kind, what: `${id} (${of}): ${what}`, from: begunAt, until }
}

export type ClientLog = ReturnType<typeof createClientLog>

/** What the client intended, what was acknowledged and each event that it read, appended to a file in this order. */
export function createClientLog(path: string) {
  const file = createWriteStream(path, { flags: 'a' })
  const intentions = new Map<string, Intention>()
  const problems: Problem[] = []
  let count = 0

  const write = (entry: object) => void file.write(`${JSON.stringify({ at: Date.now(), ...entry })}\n`)
  const report = (problem: Problem) => {
    problems.push(problem)
    write({ problem })
  }
  return {
    intentions,
    problems,
    write,

    intend(kind: IntentionKind, facts: Record<string, string> = {}): Intention {
      const id = `i${String(++count).padStart(6, '0')}x`
      const intention: Intention = {
        id,
        kind,
        facts,
        begunAt: Date.now(),
        endedAt: undefined,
        acknowledged: undefined,
        withdrawn: false,
      }
      intentions.set(id, intention)
      write({ intends: id, kind, ...facts })
      return intention
    },

    acknowledge(intention: Intention, facts: Record<string, string> = {}): void {
      intention.endedAt = Date.now()
      intention.acknowledged = facts
      write({ acknowledged: intention.id, ...facts })
    },

    /** The client gives up; the request may have taken effect or not. */
    giveUp(intention: Intention, reason: string): void {
      intention.endedAt = Date.now()
      write({ gave_up: intention.id, reason })
    },

    report,

    /** A problem that the client itself observed between the beginning of the intention and now. */
    fault(kind: Problem['kind'], intention: Intention, what: string): void {
      report(problemOf(kind, intention, what, Date.now()))
    },

    async close(): Promise<void> {
      file.end()
      await once(file, 'finish')
    },
  }
}
