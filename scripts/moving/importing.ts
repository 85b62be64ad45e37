import OpenAI, { APIError } from 'openai'
import type { DumpEntry, DumpKind, openDump } from './dump.ts'
import type { ProgressFile } from './progress-file.ts'
import type { Report } from './report.ts'

/** What the steps of one import share. */
export interface Importing {
  client: OpenAI
  /** The path of the dump, and the dump. */
  dumpFile: string
  dump: Awaited<ReturnType<typeof openDump>>
  progress: ProgressFile
  report: Report
  newIds: NewIds
}

/** The new ids of what is on the server. */
export type NewIds = ReturnType<typeof createNewIds>

export function createNewIds() {
  const ids = new Map<string, string>()
  const nameOf = (kind: DumpKind, id: string) => `${kind} ${id}`
  return {
    of: (kind: DumpKind, id: string) => ids.get(nameOf(kind, id)),
    set: (kind: DumpKind, id: string, newOne: string) => void ids.set(nameOf(kind, id), newOne),
    /** Throws if the store or the file of an entry is not there. */
    ofEntry({ id, parent = '' }: DumpEntry): { store: string; file: string } {
      const [store, file] = [ids.get(nameOf('vector_store', parent)), ids.get(nameOf('file', id))]
      if (store === undefined) throw new Error(`its vector store ${parent} was not taken`)
      if (file === undefined) throw new Error(`the file ${id} was not taken`)
      return { store, file }
    },
  }
}

/** The member of metadata that keeps the old id. */
export const importedId = 'imported_id'

/** The id of an object, or undefined if there is none. */
export async function ifThere(reading: PromiseLike<{ id: string }>): Promise<string | undefined> {
  try {
    return (await reading).id
  } catch (error) {
    if (error instanceof OpenAI.NotFoundError) return undefined
    throw error
  }
}

/** What ends the import: every further request would end the same way. */
export function isFatal(error: unknown): boolean {
  if (!(error instanceof APIError)) return false
  return error.status === undefined || error.status === 401 || error.status === 403 || error.status >= 500
}
