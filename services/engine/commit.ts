import type { ClientSession } from 'mongoose'
import { answerEntry } from '../../domain/contracts/thread.ts'
import { type AIMessage, messagesFromJson } from '../../domain/messages.ts'
import type { RunRecord, Usage } from '../../domain/records/run.ts'
import { toolCallKey } from '../../domain/records/tool-call.ts'
import type { EngineDeps } from './deps.ts'
import { SupersededError } from './run-writer.ts'

/** Stores an answer that asks for tools, and its calls in the ledger; all of it, or nothing when the run was taken over. */
export async function commitAnswer(
  deps: EngineDeps,
  run: RunRecord,
  step: number,
  message: AIMessage,
  approval: boolean,
): Promise<void> {
  const { runs, toolCalls } = deps.collections
  const now = new Date()
  await deps.log.append(run.thread_id, {
    messages: [message],
    source: 'step',
    runId: run._id,
    step: answerEntry(step),
    guard: async (session) => {
      await takeIfMine(
        runs.updateOne(mine(run), { $set: { status: approval ? 'interrupted' : 'running' } }, { session }),
      )
      const calls = (message.data.tool_calls ?? []).map((call, index) => ({
        _id: toolCallKey(run._id, step, index),
        run_id: run._id,
        thread_id: run.thread_id,
        step,
        index,
        call_id: call.id,
        name: call.name,
        args_json: JSON.stringify(call.args),
        status: 'waiting' as const,
        created_at: now,
      }))
      await toolCalls.create(calls, { session, ordered: true })
    },
  })
}

/**
 * Stores the last answer and the success of the run as one. An answer that was stored before (its
 * attempt did not live to finish the run, or another was quicker) only lacks the success.
 */
export async function commitEnd(deps: EngineDeps, run: RunRecord, step: number, answer: AIMessage): Promise<void> {
  const usage = step === 0 ? answer.data.usage : await usageOf(deps, run._id, answer)
  const ended = { status: 'success' as const, finished_at: new Date(), ...(usage ? { usage } : {}) }
  const finish = (session?: ClientSession) =>
    takeIfMine(deps.collections.runs.updateOne(mine(run), { $set: ended }, session ? { session } : {}))
  const { isNew } = await deps.log.append(run.thread_id, {
    messages: [answer],
    source: 'step',
    runId: run._id,
    step: answerEntry(step),
    thread: { last_outcome: 'success' },
    guard: finish,
  })
  if (!isNew) {
    await finish()
    await deps.collections.threads.updateOne({ _id: run.thread_id }, { $set: { last_outcome: 'success' } })
  }
  deps.tracing.ended({ ...run, ...ended })
}

/** Tokens of all steps of a run, from the model's own numbers; undefined when the model gave none. */
async function usageOf({ collections }: EngineDeps, runId: string, last: AIMessage): Promise<Usage | undefined> {
  const entries = await collections.checkpoints.find({ run_id: runId, source: 'step' }).lean()
  const messages = entries
    .flatMap((entry) => messagesFromJson(entry.messages_json))
    .filter((message) => message.data.id !== last.data.id)
  const usages = [...messages, last].flatMap((message) =>
    message.type === 'AIMessage' && message.data.usage ? [message.data.usage] : [],
  )
  if (usages.length === 0) return undefined
  const sum = (member: keyof Usage) => usages.reduce((total, usage) => total + usage[member], 0)
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}

const mine = (run: RunRecord) => ({ _id: run._id, fence: run.fence, status: 'running' as const })

async function takeIfMine(update: PromiseLike<{ matchedCount: number }>): Promise<void> {
  const { matchedCount } = await update
  if (matchedCount === 0) throw new SupersededError()
}
