import type { ReembedStepResult, ReembeddingInput } from '../../domain/contracts/reembedding.ts'
import { AppError } from '../../domain/errors.ts'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { type FileRecord, contentOf } from '../../domain/records/file.ts'
import type { WorkUsage } from '../budgets/work.ts'
import type { Collections } from '../collections.ts'
import type { Semaphore } from '../semaphore.ts'
import { spaceStore } from '../stores/vector-stores.ts'
import type { KnowledgeCollections } from './collections.ts'
import { countTokens, embedChunks, uncountedVectors } from './embed-chunks.ts'
import { hasAllVectors } from './embed-file.ts'
import type { Embedder } from './embedder.ts'
import { contentStore, reembeddedFileStore } from './store.ts'
import { deleteSpaces } from './vector-spaces.ts'
import type { VectorStore } from './vector-store.ts'

export interface ReembedFilesDeps {
  collections: KnowledgeCollections & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'upsert' | 'spacesOf' | 'count' | 'listFiles' | 'deleteFile' | 'deleteSpace' | 'finalize'>
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
  const spaces = spaceStore(deps.collections)
  const assistant = await spaces.find(assistantId)
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
    await spaces.switchOver(assistantId, generation, model)
    // Files that became ready just before the switch.
    if (!(await embedAll(deps, input, until, signal))) return 'more'
    return (await tidy(deps, assistantId, generation)) ? 'done' : 'more'
  } finally {
    release()
  }
}

/** False if the time was over first, or another change has begun. */
async function embedAll(
  deps: ReembedFilesDeps,
  { assistantId, generation }: ReembeddingInput,
  until: number,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    const found = await reembeddedFileStore(deps.collections).listMissing(assistantId, generation, filesAtOnce)
    if (found.length === 0) return true
    const done = new Set<string>()
    for (const file of found) {
      signal.throwIfAborted()
      if (done.has(contentOf(file))) continue
      if (await embedOne(deps, file, generation, until, signal)) done.add(contentOf(file))
      if (Date.now() >= until) return false
    }
  }
}

/** Whether the file, with its copies, is complete in the new space. */
async function embedOne(
  deps: ReembedFilesDeps,
  file: FileRecord,
  generation: number,
  until: number,
  signal: AbortSignal,
): Promise<boolean> {
  const files = reembeddedFileStore(deps.collections)
  const space = vectorSpace(file.assistant_id, generation)
  let embedded = file.next?.generation === generation ? file.next.embedded : 0
  let isPresent = true
  const note = async (count: number) => {
    embedded = count
    isPresent = await files.noteNext(file, { generation, embedded })
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
  if (isPresent && embedded < file.chunks) return false
  if (isPresent && !(await hasAllVectors(deps.vectors, file, space, signal))) {
    await note(0)
    throw new AppError('unavailable', 'The vector store lost vectors that were stored in it.')
  }
  if (isPresent && (await files.complete(file, generation))) return true
  const content = { assistantId: file.assistant_id, contentId: contentOf(file) }
  if (!(await contentStore(deps.collections).isShared(content))) await deps.vectors.deleteFile(space, content.contentId)
  return false
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
  if (!(await spaceStore(collections).isSearched(assistantId, generation))) return false
  const space = vectorSpace(assistantId, generation)
  for (const fileId of await vectors.listFiles(space))
    if (!(await contentStore(collections).isNamedOfAny(fileId))) await vectors.deleteFile(space, fileId)
  await deleteSpaces(vectors, assistantId, space)
  for (const other of await vectors.spacesOf(assistantId)) {
    if (other !== space && (await vectors.count(other)) > 0)
      throw new AppError('unavailable', 'Vectors of the model before have not been removed yet.')
  }
  return true
}
