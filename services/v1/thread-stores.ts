import { AppError, ifFound } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { createStoreEntries } from '../knowledge/store-entries.ts'
import { type VectorStores, isExpired } from '../knowledge/vector-stores.ts'
import type { Caller } from '../owner.ts'
import { missing } from '../public/find-thread.ts'
import { namedThreadStore } from '../public/store.ts'
import type { OwnStore } from './assistants.ts'
import type { CreateStore } from './create-store.ts'

interface ThreadStoresDeps {
  collections: Pick<Collections, 'threads'>
  vectorStores: Pick<VectorStores, 'find' | 'remove'>
  entries: Pick<ReturnType<typeof createStoreEntries>, 'add' | 'find' | 'remove'>
  createStore: CreateStore
}

/** Vector stores by id, or one that is made for the thread. */
export interface ThreadResources {
  vectorStores?: string[] | undefined
  ownStore?: OwnStore | undefined
  /** Files of the project that code can read. */
  codeFiles?: string[] | undefined
}

export type ThreadStores = ReturnType<typeof createThreadStores>

/** As the assistants API has it: a store that was made for a thread goes so many days after its last use. */
const expiresAfterDays = 7
const attempts = 3

/** The vector stores of threads, which the runs on them search beside those of their assistant. */
export function createThreadStores({ collections, vectorStores, entries, createStore }: ThreadStoresDeps) {
  const threads = namedThreadStore(collections)

  async function set(caller: Caller, threadId: string, ids: string[], asRead?: ThreadRecord) {
    const same = asRead === undefined ? {} : { vector_stores: asRead.vector_stores ?? { $exists: false } }
    return threads.changeOwned(caller, threadId, { $set: { vector_stores: ids, updated_at: new Date() } }, same)
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

    /**
     * The thread of a run as it is searched when these files and its own store have been added, and what adds them:
     * `make`, for a run that was admitted, which returns what takes them back. `isNew`: the thread is stored with the run.
     */
    async planned(
      caller: Caller,
      thread: ThreadRecord,
      { isNew, fileIds, ownStore }: { isNew: boolean; fileIds: string[]; ownStore: OwnStore | undefined },
    ): Promise<{ thread: ThreadRecord; makeNeeds?: () => Promise<() => Promise<void>> }> {
      if (fileIds.length === 0 && ownStore === undefined) return { thread }
      const wanted = fileIds.map((fileId) => ({ fileId }))
      const known = ownStore === undefined ? (thread.vector_stores ?? []) : []
      const store = await firstUsable(vectorStores, caller, known)
      if (store !== undefined) return { thread, makeNeeds: () => addTo(entries, store, wanted) }
      const id = newId()
      const searched = { ...thread, vector_stores: [id] }
      const { files = [], ...facts } = ownStore ?? {}
      const takeBack = async () => {
        await vectorStores.remove(caller, id)
        if (!isNew) await set(caller, thread._id, thread.vector_stores ?? [], searched)
      }
      return {
        thread: searched,
        async makeNeeds() {
          const made = await createStore(caller, { expiresAfterDays, ...facts }, files, id)
          try {
            if (!isNew && (await set(caller, thread._id, [id], thread)) === null)
              throw new AppError('bad_request', 'The thread was changed at the same time. Try again.')
            await entries.add(made, wanted)
          } catch (error) {
            await takeBack()
            throw error
          }
          return takeBack
        },
      }
    },

    async change(caller: Caller, threadId: string, ids: string[]): Promise<ThreadRecord> {
      for (const id of ids) await vectorStores.find(caller, id)
      const thread = await set(caller, threadId, ids)
      if (thread === null) throw missing('thread')
      return thread
    },

    /**
     * Puts files into the first of the thread's vector stores that is usable; one is made if none is. Their processing
     * begins.
     */
    async addFiles(caller: Caller, thread: ThreadRecord, fileIds: string[]): Promise<ThreadRecord> {
      if (fileIds.length === 0) return thread
      const wanted = fileIds.map((fileId) => ({ fileId }))
      let current = thread
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const store = await firstUsable(vectorStores, caller, current.vector_stores ?? [])
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
        const again = await threads.findOwned(caller, thread._id)
        if (again === null) throw missing('thread')
        current = again
      }
      throw new AppError('conflict', 'The thread was changed at the same time. Try again.')
    },
  }
}

/** Undefined if it is gone, or will be soon. */
async function usable(
  vectorStores: ThreadStoresDeps['vectorStores'],
  caller: Caller,
  id: string,
): Promise<VectorStoreRecord | undefined> {
  const store = await ifFound(vectorStores.find(caller, id))
  return store === undefined || isExpired(store) ? undefined : store
}

async function firstUsable(
  vectorStores: ThreadStoresDeps['vectorStores'],
  caller: Caller,
  ids: string[],
): Promise<VectorStoreRecord | undefined> {
  for (const id of ids) {
    const store = await usable(vectorStores, caller, id)
    if (store !== undefined) return store
  }
  return undefined
}

/** Adds files to a store. The result removes those again that it did not have. */
async function addTo(entries: ThreadStoresDeps['entries'], store: VectorStoreRecord, wanted: { fileId: string }[]) {
  const isMissing = (fileId: string) =>
    entries.find(store, fileId).then(
      () => false,
      () => true,
    )
  const missing = await Promise.all(wanted.map(({ fileId }) => isMissing(fileId)))
  await entries.add(store, wanted)
  return async () => {
    for (const [index, { fileId }] of wanted.entries()) if (missing[index]) await entries.remove(store, fileId)
  }
}
