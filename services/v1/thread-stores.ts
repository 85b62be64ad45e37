import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import { type VectorStoreRecord, type VectorStores, isExpired } from '../knowledge/vector-stores.ts'
import { missing, ownOf } from '../public/find-thread.ts'
import type { OwnStore } from './assistants.ts'
import type { CreateStore } from './create-store.ts'

interface ThreadStoresDeps {
  collections: Pick<Collections, 'threads'>
  vectorStores: Pick<VectorStores, 'find' | 'remove'>
  entries: Pick<ReturnType<typeof createStoreEntries>, 'add'>
  createStore: CreateStore
}

/** Vector stores by id, or one that is made for the thread. */
export interface ThreadResources {
  vectorStores?: string[] | undefined
  ownStore?: OwnStore | undefined
}

export type ThreadStores = ReturnType<typeof createThreadStores>

/** As the assistants API has it: a store that was made for a thread goes so many days after its last use. */
const expiresAfterDays = 7
const attempts = 3

/** The vector stores of threads, which the runs on them search beside those of their assistant. */
export function createThreadStores({ collections: { threads }, vectorStores, entries, createStore }: ThreadStoresDeps) {
  /** Undefined if it is gone, or will be soon. */
  async function usable(caller: Caller, id: string): Promise<VectorStoreRecord | undefined> {
    const store = await vectorStores.find(caller, id).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    })
    return store === undefined || isExpired(store) ? undefined : store
  }

  async function set(caller: Caller, threadId: string, ids: string[], asRead?: ThreadRecord) {
    const same = asRead === undefined ? {} : { vector_stores: asRead.vector_stores ?? { $exists: false } }
    return threads
      .findOneAndUpdate(
        { ...ownOf(caller, threadId), ...same },
        { $set: { vector_stores: ids, updated_at: new Date() } },
        { returnDocument: 'after' },
      )
      .lean<ThreadRecord>()
  }

  return {
    /**
     * The ids of the vector stores that a new thread gets; one is made if the request describes it. Throws `not_found` for
     * one of another project.
     */
    async prepare(caller: Caller, { vectorStores: ids, ownStore }: ThreadResources): Promise<string[] | undefined> {
      for (const id of ids ?? []) await vectorStores.find(caller, id)
      if (ownStore === undefined) return ids
      const { files, ...facts } = ownStore
      const { _id } = await createStore(caller, { expiresAfterDays, ...facts }, files)
      return [_id]
    },

    async change(caller: Caller, threadId: string, ids: string[]): Promise<ThreadRecord> {
      for (const id of ids) await vectorStores.find(caller, id)
      const thread = await set(caller, threadId, ids)
      if (thread === null) throw missing('thread')
      return thread
    },

    /** Puts files into the thread's vector store, which is made if there is none. Their processing begins. */
    async addFiles(caller: Caller, thread: ThreadRecord, fileIds: string[]): Promise<ThreadRecord> {
      if (fileIds.length === 0) return thread
      const wanted = fileIds.map((fileId) => ({ fileId }))
      let current = thread
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const [known] = current.vector_stores ?? []
        const store = known === undefined ? undefined : await usable(caller, known)
        if (store !== undefined) {
          await entries.add(store, wanted)
          return current
        }
        const made = await createStore(caller, { expiresAfterDays }, [])
        const changed = await set(caller, thread._id, [made._id], current)
        if (changed !== null) {
          await entries.add(made, wanted)
          return changed
        }
        // Another message has brought files at the same time.
        await vectorStores.remove(caller, made._id)
        const again = await threads.findOne(ownOf(caller, thread._id)).lean<ThreadRecord>()
        if (again === null) throw missing('thread')
        current = again
      }
      throw new AppError('conflict', 'The thread was changed at the same time. Try again.')
    },
  }
}
