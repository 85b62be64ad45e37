import { defaultPatienceHours } from '../../domain/contracts/patience.ts'
import { reembeddingContract } from '../../domain/contracts/reembedding.ts'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import { isOfModel, lastGeneration, searchedSpace, unchanged } from './embedding-model.ts'
import { filesToReembed } from './reembed-files.ts'
import type { VectorStore } from './vector-store.ts'

interface ReembeddingDeps {
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'ping' | 'count'>
  workflows: Pick<WorkflowClient, 'start'>
  /** Undefined if no embedding model is configured. */
  model: string | undefined
}

/**
 * `outdated`: files were embedded with another model than the server uses now, or vectors are missing in the store.
 * `failed`: embedding them anew was given up, see `error`.
 */
export const reembeddingStatuses = ['current', 'outdated', 'running', 'failed'] as const
export type ReembeddingStatus = (typeof reembeddingStatuses)[number]

export interface ReembeddingView {
  status: ReembeddingStatus
  /** The model of the vectors that are searched. */
  model?: string
  /** The model that the server uses now. */
  configured_model: string
  /** Ready files and their chunks, and how many of them have vectors of the configured model. */
  files: number
  files_done: number
  chunks: number
  chunks_done: number
  started_at?: Date
  error?: string
}

const present = { deleting: { $ne: true } } as const

/** Embeds the files of assistants anew after a change of the embedding model (docs/knowledge.md). */
export function createReembedding({ collections, vectors, workflows, model }: ReembeddingDeps) {
  const { assistants, files } = collections

  function requireModel(): string {
    if (model !== undefined) return model
    throw noEmbeddingModel()
  }

  async function find(assistantId: string): Promise<AssistantRecord> {
    const record = await assistants.findOne({ _id: assistantId, ...present }).lean<AssistantRecord>()
    if (record === null) throw new AppError('not_found', 'There is no such assistant.')
    return record
  }

  /** Of the ready files: how many there are, and how many are complete in the space of this generation. */
  async function progressIn(assistantId: string, generation: number | undefined) {
    const isDone = { $eq: ['$generation', generation ?? -1] }
    const inPart = { $cond: [{ $eq: ['$next.generation', generation ?? -1] }, '$next.embedded', 0] }
    const [sums] = await files.aggregate<{ files: number; files_done: number; chunks: number; chunks_done: number }>([
      { $match: { assistant_id: assistantId, status: 'ready', chunks: { $gt: 0 } } },
      {
        $group: {
          _id: null,
          files: { $sum: 1 },
          files_done: { $sum: { $cond: [isDone, 1, 0] } },
          chunks: { $sum: '$chunks' },
          chunks_done: { $sum: { $cond: [isDone, '$chunks', inPart] } },
        },
      },
      { $project: { _id: 0 } },
    ])
    return sums ?? { files: 0, files_done: 0, chunks: 0, chunks_done: 0 }
  }

  async function viewOf(assistant: AssistantRecord): Promise<ReembeddingView> {
    const configured = requireModel()
    const { reembedding, embedding_model: known } = assistant
    const common = { ...(known === undefined ? {} : { model: known }), configured_model: configured }
    if (reembedding?.model === configured) {
      const { generation, started_at, error } = reembedding
      const status = error === undefined ? 'running' : 'failed'
      const progress = await progressIn(assistant._id, generation)
      return { status, ...common, ...progress, started_at, ...(error === undefined ? {} : { error }) }
    }
    const progress = await progressIn(assistant._id, undefined)
    const isCurrent = isOfModel(assistant, configured) && (await hasVectors(assistant, progress.chunks))
    const done = isCurrent ? { files_done: progress.files, chunks_done: progress.chunks } : {}
    const status = progress.files === 0 || isCurrent ? 'current' : 'outdated'
    return { status, ...common, ...progress, ...done }
  }

  /** False after the operator named another collection, for example, or lost the store's data. */
  async function hasVectors(assistant: AssistantRecord, expected: number): Promise<boolean> {
    return expected === 0 || (await vectors.count(searchedSpace(assistant))) >= expected
  }

  /** The generation to be filled, new or that of a change that has begun; undefined if nothing is to be done. */
  async function claim(assistantId: string): Promise<number | undefined> {
    const configured = requireModel()
    for (;;) {
      const assistant = await find(assistantId)
      const { reembedding } = assistant
      const same = { _id: assistantId, ...present, ...unchanged(assistant) }
      if (reembedding?.model === configured) {
        const again = { ...same, 'reembedding.generation': reembedding.generation }
        const { matchedCount } = await assistants.updateOne(again, { $unset: { 'reembedding.error': 1 } })
        if (matchedCount > 0) return reembedding.generation
        continue
      }
      if ((await viewOf(assistant)).status === 'current') {
        // A change that was taken back: its workflow finds itself superseded.
        await assistants.updateOne(same, { $unset: { reembedding: 1 } })
        return undefined
      }
      const generation = lastGeneration(assistant) + 1
      const begun = { generation, model: configured, started_at: new Date() }
      const { matchedCount } = await assistants.updateOne(same, {
        $set: { reembedding: begun, last_generation: generation },
      })
      if (matchedCount > 0) return generation
    }
  }

  async function begin(assistantId: string): Promise<void> {
    const configured = requireModel()
    await vectors.ping()
    const generation = await claim(assistantId)
    if (generation !== undefined) {
      const { user_id: userId, project_id: projectId } = await find(assistantId)
      const input = { assistantId, generation, model: configured, patienceHours: defaultPatienceHours }
      await workflows.start(reembeddingContract, { ...input, userId, projectId })
    }
  }

  const view = async (assistantId: string): Promise<ReembeddingView> => viewOf(await find(assistantId))

  return {
    /**
     * Starts it, or continues one that was given up. Without effect while it runs, and if all vectors are of the
     * configured model. Throws `unavailable` without a model or vector store, and `not_found`.
     */
    async start(assistantId: string): Promise<ReembeddingView> {
      await begin(assistantId)
      return view(assistantId)
    },

    view,

    /**
     * Starts it for every assistant that needs it, at most `most` of them, and counts assistants by their status
     * before. Safe to repeat: the running ones are only counted, those that were given up are continued.
     */
    async startAll({ most, dryRun }: { most: number; dryRun: boolean }) {
      const counts: Record<ReembeddingStatus | 'started' | 'chunks', number> = {
        current: 0,
        outdated: 0,
        running: 0,
        failed: 0,
        started: 0,
        chunks: 0,
      }
      const withFiles = { ...present, has_files: { $ne: false } }
      const pages = pagesById(100, (after: After<string>, limit) =>
        assistants
          .find({ ...withFiles, ...after })
          .sort({ _id: 1 })
          .limit(limit)
          .lean<AssistantRecord[]>(),
      )
      for await (const page of pages) {
        for (const assistant of page) {
          const { status, chunks, chunks_done: done } = await viewOf(assistant)
          counts[status] += 1
          counts.chunks += chunks - done
          if (status === 'current' || dryRun || counts.started >= most) continue
          await begin(assistant._id)
          if (status !== 'running') counts.started += 1
        }
      }
      return counts
    },
  }
}

/** Notes that it was given up, and why. The file at which it stopped is the first that is missing. */
export async function giveUpReembedding(
  { collections }: Pick<ReembeddingDeps, 'collections'>,
  { assistantId, generation, reason }: { assistantId: string; generation: number; reason: string },
): Promise<void> {
  const [file] = await filesToReembed(collections, assistantId, generation, 1)
  const error = file === undefined ? reason : `${reason} (at the file ${file.name})`
  await collections.assistants.updateOne(
    { _id: assistantId, 'reembedding.generation': generation },
    { $set: { 'reembedding.error': error.slice(0, 500) } },
  )
}
