import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { lastGeneration, unchanged } from './embedding-model.ts'

interface ClaimDeps {
  collections: Pick<Collections, 'assistants'>
  find: (assistantId: string) => Promise<AssistantRecord>
  /** Whether all of the assistant's vectors are of the configured model. */
  isCurrent: (assistant: AssistantRecord) => Promise<boolean>
}

const present = { deleting: { $ne: true } } as const

/** The generation to be filled, new or that of a change that has begun; undefined if nothing is to be done. */
export async function claimGeneration(
  { collections, find, isCurrent }: ClaimDeps,
  assistantId: string,
  configured: string,
): Promise<number | undefined> {
  const { assistants } = collections
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
    if (await isCurrent(assistant)) {
      // The change of the model was taken back. Its workflow finds that it is superseded.
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
