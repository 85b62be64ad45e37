import { defaultPatienceHours } from '../../domain/contracts/ingestion.ts'
import { reembeddingContract } from '../../domain/contracts/reembedding.ts'
import { cutText } from '../../domain/cut-text.ts'
import { AppError } from '../../domain/errors.ts'
import { type After, pagesById } from '../../domain/pages-by-id.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { spaceStore } from '../stores/vector-stores.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { KnowledgeCollections } from './collections.ts'
import { noEmbeddingModel } from './embedder.ts'
import { lastGeneration } from './embedding-model.ts'
import { reembeddedFileStore } from './store.ts'
import { type ReembeddingStatus, type ReembeddingView, toReembedding } from './to-reembedding.ts'
import type { VectorStore } from './vector-store.ts'

interface ReembeddingDeps {
  collections: Pick<KnowledgeCollections, 'files'> & Pick<Collections, 'assistants'>
  vectors: Pick<VectorStore, 'ping' | 'count'>
  workflows: Pick<WorkflowClient, 'start'>
  /** Undefined if no embedding model is configured. */
  model: string | undefined
}

/** Embeds the files of assistants anew after a change of the embedding model (docs/knowledge.md). */
export function createReembedding({ collections, vectors, workflows, model }: ReembeddingDeps) {
  const spaces = spaceStore(collections)

  function requireModel(): string {
    if (model !== undefined) return model
    throw noEmbeddingModel()
  }

  async function find(assistantId: string): Promise<AssistantRecord> {
    const record = await spaces.findAssistant(assistantId)
    if (record === null) throw new AppError('not_found', 'There is no such assistant.')
    return record
  }

  const toView = (assistant: AssistantRecord) => toReembedding({ collections, vectors }, assistant, requireModel())

  async function begin(assistantId: string): Promise<void> {
    const configured = requireModel()
    await vectors.ping()
    const isCurrent = async (assistant: AssistantRecord) => (await toView(assistant)).status === 'current'
    const generation = await claimGeneration({ collections, find, isCurrent }, assistantId, configured)
    if (generation !== undefined) {
      const { user_id: userId, project_id: projectId } = await find(assistantId)
      const input = { assistantId, generation, model: configured, patienceHours: defaultPatienceHours }
      await workflows.start(reembeddingContract, { ...input, userId, projectId })
    }
  }

  const view = async (assistantId: string): Promise<ReembeddingView> => toView(await find(assistantId))

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
      const pages = pagesById(100, (after: After<string>, limit) => spaces.listWithFilesOfAny(after, limit))
      for await (const page of pages) {
        for (const assistant of page) {
          const { status, chunks, chunks_done: done } = await toView(assistant)
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
  const [file] = await reembeddedFileStore(collections).listMissing(assistantId, generation, 1)
  const error = file === undefined ? reason : `${reason} (at the file ${file.name})`
  await spaceStore(collections).failReembedding(assistantId, generation, cutText(error, 500))
}

interface ClaimDeps {
  collections: Pick<Collections, 'assistants'>
  find: (assistantId: string) => Promise<AssistantRecord>
  /** Whether all of the assistant's vectors are of the configured model. */
  isCurrent: (assistant: AssistantRecord) => Promise<boolean>
}

/** The generation to be filled, new or that of a change that has begun; undefined if nothing is to be done. */
async function claimGeneration(
  { collections, find, isCurrent }: ClaimDeps,
  assistantId: string,
  configured: string,
): Promise<number | undefined> {
  const spaces = spaceStore(collections)
  for (;;) {
    const assistant = await find(assistantId)
    const { reembedding } = assistant
    if (reembedding?.model === configured) {
      if (await spaces.continueReembedding(assistant, reembedding.generation)) return reembedding.generation
      continue
    }
    if (await isCurrent(assistant)) {
      // The change of the model was taken back. Its workflow finds that it is superseded.
      await spaces.takeReembeddingBack(assistant)
      return undefined
    }
    const generation = lastGeneration(assistant) + 1
    const begun = { generation, model: configured, started_at: new Date() }
    if (await spaces.beginReembedding(assistant, begun)) return generation
  }
}
