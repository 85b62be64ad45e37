import { invalidInput } from '../../domain/errors.ts'
import { maxCodeFiles } from '../../domain/limits.ts'
import type { Collections } from '../collections.ts'
import type { ProjectFiles } from '../knowledge/project-files.ts'
import type { Caller } from '../owner.ts'
import { missing } from '../public/find-thread.ts'
import { namedThreadStore } from '../public/store.ts'

interface CodeFilesDeps {
  collections: Pick<Collections, 'threads'>
  files: Pick<ProjectFiles, 'find'>
}

export type CodeFiles = ReturnType<typeof createCodeFiles>

/** Files of the project that code of a thread's runs can read. */
export function createCodeFiles({ collections, files: projectFiles }: CodeFilesDeps) {
  const { changeOwned } = namedThreadStore(collections)

  async function require(caller: Caller, ids: string[] = []): Promise<void> {
    for (const id of ids) await projectFiles.find(caller, id)
  }

  return {
    /** Throws `not_found` for a file of another project. */
    require,

    async set(caller: Caller, threadId: string, ids: string[]): Promise<void> {
      await require(caller, ids)
      const change = { $set: { code_files: ids, updated_at: new Date() } }
      if ((await changeOwned(caller, threadId, change)) === null) throw missing('thread')
    },

    /** Adds files that came with messages. */
    async add(caller: Caller, threadId: string, ids: string[], loc: (string | number)[]): Promise<void> {
      if (ids.length === 0) return
      const hasRoom = { [`code_files.${Math.max(0, maxCodeFiles - ids.length)}`]: { $exists: false } }
      const change = { $addToSet: { code_files: { $each: ids } } }
      if ((await changeOwned(caller, threadId, change, hasRoom)) === null)
        throw invalidInput(loc, `a thread has at most ${maxCodeFiles} files for code`, 'too_many')
    },
  }
}
