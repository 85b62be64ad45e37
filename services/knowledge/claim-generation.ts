import { spaceStore } from '../stores/vector-stores.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { lastGeneration } from './embedding-model.ts'

interface ClaimDeps {
  collections: Pick<Collections, 'assistants'>
  find: (assistantId: string) => Promise<AssistantRecord>
  /** Whether all of the assistant's vectors are of the configured model. */
  isCurrent: (assistant: AssistantRecord) => Promise<boolean>
}

/** The generation to be filled, new or that of a change that has begun; undefined if nothing is to be done. */
export async function claimGeneration(
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
