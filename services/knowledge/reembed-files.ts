import type { ReembedStepResult, ReembeddingInput } from '../../domain/contracts/reembedding.ts'
import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { FileRecord } from '../../domain/records/file.ts'
import type { Collections } from '../collections.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Semaphore } from '../semaphore.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countTokens, embedChunks, uncountedVectors } from './embed-chunks.ts'
import { hasAllVectors } from './embed-file.ts'
import type { Embedder } from './embedder.ts'
import { deleteSpaces } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface ReembedFilesDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'upsert' | 'spacesOf' | 'count' | 'listFiles' | 'deleteFile' | 'deleteSpace' | 'settle'>
  embedder: Embedder
  workUsage: Pick<WorkUsage, 'note'>
  /** Few, and none of those for uploads, which therefore do not wait for this. */
  reembeddingSlots: Pick<Semaphore, 'acquire'>
}

/** After this time, the slot goes to another user. */
const sliceMs = 20_000
const filesAtOnce = 100

/**
 * Embeds the chunks of an assistant's ready files for another space, then has searches use it and removes the other
 * spaces. Until then, its files and the space that is searched stay as they are. Files that become ready meanwhile
 * are embedded, too. `next` on a file's record counts its embedded chunks, `generation` says that it is complete: so
 * a retry continues where the attempt before stopped.
 */
export async function reembedFiles(
  deps: ReembedFilesDeps,
  input: ReembeddingInput,
  signal: AbortSignal,
): Promise<ReembedStepResult> {
  const { assistantId, generation, model } = input
  const space = vectorSpace(assistantId, generation)
  const assistant = await deps.collections.assistants
    .findById(assistantId, { user_id: 1, deleting: 1, vector_generation: 1, reembedding: 1 })
    .lean<Pick<AssistantRecord, 'user_id' | 'deleting' | 'vector_generation' | 'reembedding'>>()
  if (assistant === null || assistant.deleting === true) {
    await deleteSpaces(deps.vectors, assistantId)
    return 'gone'
  }
  if (assistant.reembedding?.generation !== generation && assistant.vector_generation !== generation) {
    await deps.vectors.deleteSpace(space)
    return 'superseded'
  }
  if (deps.embedder.model !== model)
    throw new AppError('unavailable', `A worker embeds with ${deps.embedder.model}; this needs one with ${model}.`)
  const release = await deps.reembeddingSlots.acquire(assistant.user_id, signal)
  if (release === undefined) return 'busy'
  try {
    const until = Date.now() + sliceMs
    if (!(await embedAll(deps, input, until, signal))) return 'more'
    await switchOver(deps, input)
    // Files that became ready just before the switch.
    if (!(await embedAll(deps, input, until, signal))) return 'more'
    return (await tidy(deps, assistantId, generation)) ? 'done' : 'more'
  } finally {
    release()
  }
}

/** The ready files whose vectors are not all in the space of this generation, oldest first. */
export function filesToReembed(
  { files }: Pick<KnowledgeCollections, 'files'>,
  assistantId: string,
  generation: number,
  limit: number,
): Promise<FileRecord[]> {
  return files
    .find({ assistant_id: assistantId, status: 'ready', chunks: { $gt: 0 }, generation: { $ne: generation } })
    .sort({ created_at: 1, order: 1, _id: 1 })
    .limit(limit)
    .lean<FileRecord[]>()
}

/** False if the time was over first, or another change has begun. */
async function embedAll(
  deps: ReembedFilesDeps,
  { assistantId, generation }: ReembeddingInput,
  until: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const found = await filesToReembed(deps.collections, assistantId, generation, filesAtOnce)
    if (found.length === 0) return true
    for (const file of found) {
      signal.throwIfAborted()
      await embedOne(deps, file, generation, until, signal)
      if (Date.now() >= until) return false
    }
  }
}

async function embedOne(
  deps: ReembedFilesDeps,
  file: FileRecord,
  generation: number,
  until: number,
  signal: AbortSignal,
): Promise<void> {
  const { files } = deps.collections
  const space = vectorSpace(file.assistant_id, generation)
  const present = { _id: file._id, status: 'ready' } as const
  let embedded = file.next?.generation === generation ? file.next.embedded : 0
  let isPresent = true
  const note = async (count: number) => {
    embedded = count
    const $set = { next: { generation, embedded } }
    isPresent = (await files.updateOne(present, { $set })).matchedCount > 0
    return isPresent && Date.now() < until
  }
  const from = embedded
  if (from < file.chunks) {
    const tokens = countTokens(deps.workUsage, file.assistant_id)
    const destination = { space, from, untouched: from + uncountedVectors, onStored: note, tokens }
    await embedChunks(deps, file, destination, signal).finally(tokens.end)
    if (isPresent && embedded === from)
      throw new AppError('conflict', 'Passages of a file are missing: it has to be deleted and uploaded again.')
  }
  if (isPresent && embedded < file.chunks) return
  if (isPresent && !(await hasAllVectors(deps.vectors, file, space, signal))) {
    await note(0)
    throw new AppError('unavailable', 'The vector store lost vectors that were stored in it.')
  }
  const complete = { $set: { generation }, $unset: { next: 1 } } as const
  if (isPresent) isPresent = (await files.updateOne(present, complete)).matchedCount > 0
  if (!isPresent) await deps.vectors.deleteFile(space, file._id)
}

/** From now on, searches use the new space. Without effect if they do, or if another change has begun. */
async function switchOver(
  { collections }: Pick<ReembedFilesDeps, 'collections'>,
  { assistantId, generation, model }: ReembeddingInput,
): Promise<void> {
  await collections.assistants.updateOne(
    { _id: assistantId, deleting: { $ne: true }, 'reembedding.generation': generation },
    { $set: { embedding_model: model, vector_generation: generation }, $unset: { reembedding: 1 } },
  )
}

/**
 * Removes the other spaces, and the vectors of files that were deleted while a killed worker stored them. False if
 * another change has begun, which uses other spaces.
 */
async function tidy(
  { collections, vectors }: Pick<ReembedFilesDeps, 'collections' | 'vectors'>,
  assistantId: string,
  generation: number,
): Promise<boolean> {
  const { assistants, files } = collections
  const settled = { _id: assistantId, vector_generation: generation, reembedding: { $exists: false } }
  if ((await assistants.exists(settled)) === null) return false
  const space = vectorSpace(assistantId, generation)
  for (const fileId of await vectors.listFiles(space))
    if ((await files.exists({ _id: fileId })) === null) await vectors.deleteFile(space, fileId)
  await deleteSpaces(vectors, assistantId, space)
  for (const other of await vectors.spacesOf(assistantId)) {
    if (other !== space && (await vectors.count(other)) > 0)
      throw new AppError('unavailable', 'Vectors of the model before have not been removed yet.')
  }
  return true
}
