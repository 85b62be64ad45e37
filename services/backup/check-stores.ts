import type { Model } from 'mongoose'
import type { Collections } from '../collections.ts'
import type { VectorStore } from '../knowledge/vector-store.ts'

interface CheckDeps {
  collections: Collections
  vectors: Pick<VectorStore, 'count'>
  /** Blobs whose pieces do not add up to their length. */
  incompleteBlobs(): Promise<number>
}

/** How many records of each kind do not agree with each other. All zero after a good restore. */
export type StoreDisagreements = Record<
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
 * Counts across the stores what a backup could have torn apart. Reads every owner once, in pages. Orphans among
 * vectors and blobs are not counted: the orphan sweep removes them.
 */
export async function checkStores({ collections, vectors, incompleteBlobs }: CheckDeps): Promise<StoreDisagreements> {
  const { users, projects, assistants, threads, runs, checkpoints, files, chunks } = collections
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
  /** How many of the given ids the collection does not have. */
  const missing = async (owners: { countDocuments(filter: object): PromiseLike<number> }, ids: string[]) => {
    const known = [...new Set(ids)]
    return known.length === 0 ? 0 : known.length - (await owners.countDocuments({ _id: { $in: known } }))
  }
  for await (const page of pages(assistants, { project_id: 1 }))
    found.assistants_without_project += await missing(
      projects,
      page.map(({ project_id }) => project_id),
    )
  for await (const page of pages(threads, { user_id: 1 }))
    found.threads_without_user += await missing(
      users,
      page.map(({ user_id }) => user_id),
    )
  for await (const page of pages(runs, { thread_id: 1 }))
    found.runs_without_thread += await missing(
      threads,
      page.map(({ thread_id }) => thread_id),
    )
  for await (const page of pages(checkpoints, { thread_id: 1 }))
    found.checkpoints_without_thread += await missing(
      threads,
      page.map(({ thread_id }) => thread_id),
    )
  for await (const page of pages(files, { assistant_id: 1, status: 1, chunks: 1 })) {
    found.files_without_assistant += await missing(
      assistants,
      page.map(({ assistant_id }) => assistant_id),
    )
    for (const file of page.filter(({ status }) => status === 'ready')) {
      const stored = await chunks.countDocuments({ assistant_id: file.assistant_id, file_id: file._id })
      if (stored !== file.chunks) found.files_with_other_chunks += 1
      if ((await vectors.count(file.assistant_id, file._id)) !== file.chunks) found.files_with_other_vectors += 1
    }
  }
  return found
}

async function* pages<T extends { _id: string }>(
  collection: Model<T>,
  members: Record<string, 1>,
): AsyncGenerator<T[]> {
  let last: string | undefined
  for (;;) {
    const after = last === undefined ? {} : { _id: { $gt: last } }
    const page = await collection.find(after, members).sort({ _id: 1 }).limit(idsAtOnce).lean<T[]>()
    if (page.length > 0) yield page
    last = page.at(-1)?._id
    if (page.length < idsAtOnce) return
  }
}
