import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import { sumUsage } from '../../domain/sum-usage.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'

/** What a run stores of its tokens. */
export type RunUsage = Pick<RunRecord, 'usage' | 'usage_by_model'>

/** The tokens of a run by the model that counted them: of its steps, and of attempts without a stored answer. */
export async function usageByModel(
  collections: Pick<Collections, 'checkpoints'>,
  run: Pick<RunRecord, '_id' | 'thread_id' | 'model' | 'spent'>,
  last?: AIMessage,
): Promise<ModelUsage[]> {
  return sumByModel([...(await usageOfSteps(collections, run, last)), ...(run.spent ?? [])])
}

/** Tokens of the stored steps of a run, and of a last answer that is not stored yet, by the model that counted them. */
export async function usageOfSteps(
  collections: Pick<Collections, 'checkpoints'>,
  run: Pick<RunRecord, '_id' | 'thread_id' | 'model'>,
  last?: AIMessage,
): Promise<ModelUsage[]> {
  const entries = await logStore(collections).listSteps(run)
  const { model: runModel = '' } = run
  const stored = entries.flatMap(({ messages_json: json, model = runModel }) =>
    messagesFromJson(json)
      .filter((message) => message.data.id !== last?.data.id)
      .flatMap((message) => usageOfMessage(message, model)),
  )
  return sumByModel([...stored, ...(last ? usageOfMessage(last, runModel) : [])])
}

export function sumByModel(all: ModelUsage[]): ModelUsage[] {
  return [...Map.groupBy(all, ({ model }) => model)].flatMap(([model, usages]) => {
    const sum = sumUsage(usages)
    return sum === undefined ? [] : [{ model, ...sum }]
  })
}

/** Nothing if the model counted none. A run of one model stores only the sum. */
export function runUsage(byModel: ModelUsage[]): RunUsage {
  const usage = sumUsage(byModel)
  return {
    ...(usage === undefined ? {} : { usage }),
    ...(byModel.length > 1 ? { usage_by_model: byModel } : {}),
  }
}

/** As `runUsage` for a run without a last answer, whose record does not name a model. */
export function usageOfEnded(
  run: Pick<RunRecord, 'model'>,
  byModel: ModelUsage[],
): RunUsage & Pick<RunRecord, 'model'> {
  const model = run.model ?? byModel.at(-1)?.model
  return { ...runUsage(byModel), ...(model === undefined ? {} : { model }) }
}

export function usageOfMessage(message: Pick<AIMessage, 'data'> | { type: string }, model: string): ModelUsage[] {
  return 'data' in message && message.data.usage !== undefined ? [{ ...message.data.usage, model }] : []
}
