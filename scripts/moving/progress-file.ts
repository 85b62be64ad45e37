import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { newId } from '../../domain/ids.ts'
import { parseOwnJson } from '../../domain/json.ts'
import type { DumpKind } from './dump.ts'

interface Line {
  kind: DumpKind
  id: string
  key?: string
  new_id?: string
}

/** What an import has made so far, in a file beside the dump, so that an interrupted one goes on. */
export type ProgressFile = Awaited<ReturnType<typeof openProgress>>

export async function openProgress(file: string) {
  const made = new Map<string, string>()
  const begun = new Map<string, string>()
  const ours = new Set<string>()
  const nameOf = (kind: DumpKind, id: string) => `${kind} ${id}`
  if (existsSync(file)) {
    for (const text of (await readFile(file, 'utf8')).split('\n')) {
      const line = lineOf(text)
      if (line?.key !== undefined) begun.set(nameOf(line.kind, line.id), line.key)
      if (line?.new_id === undefined) continue
      made.set(nameOf(line.kind, line.id), line.new_id)
      ours.add(line.new_id)
    }
    // A line that was cut off ends here.
    await appendFile(file, '\n')
  }
  const note = (line: Line) => appendFile(file, `${JSON.stringify(line)}\n`)
  return {
    madeOf: (kind: DumpKind, id: string) => made.get(nameOf(kind, id)),
    /** Whether its creation began and its end was not noted. */
    isOpen: (kind: DumpKind, id: string) => begun.has(nameOf(kind, id)) && !made.has(nameOf(kind, id)),
    /** Whether an import with this file has made it. */
    isOurs: (newOne: string) => ours.has(newOne),
    /** The `Idempotency-Key` of the creation: that of an earlier attempt whose end was not noted. */
    async begin(kind: DumpKind, id: string): Promise<string> {
      const name = nameOf(kind, id)
      const key = (made.has(name) ? undefined : begun.get(name)) ?? `import-${newId()}`
      made.delete(name)
      begun.set(name, key)
      await note({ kind, id, key })
      return key
    },
    async end(kind: DumpKind, id: string, newOne: string): Promise<void> {
      made.set(nameOf(kind, id), newOne)
      ours.add(newOne)
      await note({ kind, id, new_id: newOne })
    },
  }
}

function lineOf(text: string): Line | undefined {
  if (text === '') return undefined
  try {
    return parseOwnJson<Line>(text)
  } catch {
    return undefined
  }
}
