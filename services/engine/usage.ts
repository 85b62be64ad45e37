import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import type { Usage } from '../../domain/records/run.ts'
import { sumUsage } from '../../domain/sum-usage.ts'
import type { Collections } from '../collections.ts'

/**
 * Tokens of the stored steps of a run, and of a last answer that is not stored yet, as counted by the model.
 * Undefined if the model gave none.
 */
export async function usageOf(
  { checkpoints }: Pick<Collections, 'checkpoints'>,
  runId: string,
  last?: AIMessage,
): Promise<Usage | undefined> {
  const entries = await checkpoints.find({ run_id: runId, source: 'step' }).lean()
  const stored = entries
    .flatMap((entry) => messagesFromJson(entry.messages_json))
    .filter((message) => message.data.id !== last?.data.id)
  const usages: Usage[] = [...stored, ...(last ? [last] : [])].flatMap((message) =>
    message.type === 'AIMessage' && message.data.usage ? [message.data.usage] : [],
  )
  return sumUsage(usages)
}
