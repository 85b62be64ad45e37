import type { Model } from 'mongoose'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import { contentOf } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import { countChunks } from '../knowledge/stored-chunks.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'

interface CheckDeps {
  collections: Collections
  vectors: Pick<VectorStore, 'count'>
  /** Blobs whose pieces do not add up to their length. */
  incompleteBlobs(): Promise<number>
}

/** Number of inconsistent records of each kind. All zero after a correct restore. */
type StoreDisagreements = Record<
  | 'assistants_without_project'
  | 'threads_without_user'
  | 'runs_without_thread'
  | 'checkpoints_without_thread'
  | 'files_without_assistant'
  | 'files_with_other_chunks'
  | 'files_with_other_vectors'
  | 'incomplete_blobs',
  number
>

const idsAtOnce = 500

/**
 * Counts inconsistencies between the stores that a backup can cause. Reads every owner once, in pages. Orphans
 * among vectors and blobs are not counted: the orphan sweep removes them.
 */
export async function checkStores({ collections, vectors, incompleteBlobs }: CheckDeps): Promise<StoreDisagreements> {
  const { users, projects, assistants, threads, runs, checkpoints, files } = collections
  const found: StoreDisagreements = {
    assistants_without_project: 0,
    threads_without_user: 0,
    runs_without_thread: 0,
    checkpoints_without_thread: 0,
    files_without_assistant: 0,
    files_with_other_chunks: 0,
    files_with_other_vectors: 0,
    incomplete_blobs: await incompleteBlobs(),
  }
  /** How many of the owners that these records name do not exist. */
  async function missingOwners<T, M extends keyof T>(
    page: T[],
    member: M,
    owners: { countDocuments(filter: object): PromiseLike<number> },
  ): Promise<number> {
    const named = [...new Set(page.map((record) => record[member]))]
    return named.length - (await owners.countDocuments({ _id: { $in: named } }))
  }
  for await (const page of pages(assistants, { project_id: 1 }))
    found.assistants_without_project += await missingOwners(page, 'project_id', projects)
  for await (const page of pages(threads, { user_id: 1 }))
    found.threads_without_user += await missingOwners(page, 'user_id', users)
  for await (const page of pages(runs, { thread_id: 1 }))
    found.runs_without_thread += await missingOwners(page, 'thread_id', threads)
  for await (const page of pages(checkpoints, { thread_id: 1 }))
    found.checkpoints_without_thread += await missingOwners(page, 'thread_id', threads)
  for await (const page of pages(files, { assistant_id: 1, content_id: 1, status: 1, chunks: 1, generation: 1 })) {
    found.files_without_assistant += await missingOwners(page, 'assistant_id', assistants)
    for (const file of page.filter(({ status }) => status === 'ready')) {
      if ((await countChunks(collections, file)) !== file.chunks) found.files_with_other_chunks += 1
      if ((await vectors.count(vectorSpace(file.assistant_id, file.generation), contentOf(file))) !== file.chunks)
        found.files_with_other_vectors += 1
    }
  }
  return found
}

function pages<T extends { _id: string }>(collection: Model<T>, members: Record<string, 1>): AsyncGenerator<T[]> {
  return pagesById(idsAtOnce, (after: After<string>, limit) =>
    collection.find(after, members).sort({ _id: 1 }).limit(limit).lean<T[]>(),
  )
}
