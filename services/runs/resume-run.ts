import { AppError, invalidInput } from '../../domain/errors.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { answerEntry } from '../../domain/contracts/thread.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { RunStream } from './run-stream.ts'
import type { ThreadActor } from './thread-actor.ts'

export interface Decision {
  action: 'approve' | 'reject' | 'edit'
  tool_call_id?: string
  args?: Record<string, unknown>
  message?: string
}

interface ResumeDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls' | 'checkpoints'>
  log: Pick<ThreadLog, 'append'>
  actor: Pick<ThreadActor, 'resume'>
  stream: Pick<RunStream, 'publish'>
  onError(error: unknown): void
}

/**
 * Writes a person's decision into the ledger and lets the run go on. One decision counts: the run
 * leaves `interrupted` in one atomic step. Throws `conflict` for a run that does not wait, and
 * `invalid_input` for a decision that fits no waiting call.
 */
export function createResumeRun({
  collections: { runs, toolCalls, checkpoints },
  log,
  actor,
  stream,
  onError,
}: ResumeDeps) {
  return async (run: RunRecord, decision: Decision): Promise<RunRecord> => {
    if (run.status !== 'interrupted') throw notWaiting()
    const waiting = await toolCalls
      .find({ run_id: run._id, status: 'waiting' })
      .sort({ index: 1 })
      .lean<ToolCallRecord[]>()
    const meant =
      decision.tool_call_id === undefined ? waiting : waiting.filter((call) => call.call_id === decision.tool_call_id)
    if (meant.length === 0) throw invalidInput(['body', 'tool_call_id'], 'no such call is waiting')
    const [only] = meant
    if (decision.action === 'edit' && decision.args === undefined)
      throw invalidInput(['body', 'args'], 'is required with edit', 'missing')
    if (decision.action === 'edit' && meant.length > 1)
      throw invalidInput(['body', 'tool_call_id'], 'is required: several calls wait', 'missing')

    const claimed = await runs
      .findOneAndUpdate(
        { _id: run._id, status: 'interrupted', fence: run.fence },
        { $set: { status: 'running' }, $inc: { fence: 1 } },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>()
    if (claimed === null) throw notWaiting()

    const { action, message } = decision
    const record = { action, ...(message === undefined ? {} : { message }) }
    for (const { _id } of meant) await toolCalls.updateOne({ _id, status: 'waiting' }, { $set: { decision: record } })
    if (action === 'edit' && only !== undefined && decision.args !== undefined) await edit(claimed, only, decision.args)
    // Who joins from here on waits for what follows; without this entry the next message says the same.
    await stream.publish(run._id, claimed.fence, [{ type: 'resumed' }]).catch(onError)
    await actor.resume(run.thread_id, run._id)
    return claimed
  }

  /** The changed arguments are what is executed, and what the history shows. */
  async function edit(run: RunRecord, call: ToolCallRecord, args: Record<string, unknown>): Promise<void> {
    await toolCalls.updateOne({ _id: call._id, status: 'waiting' }, { $set: { args_json: JSON.stringify(args) } })
    const entry = await checkpoints.findOne({ run_id: run._id, step: answerEntry(call.step) }).lean()
    const asked =
      entry === null ? undefined : messagesFromJson(entry.messages_json).find((message) => message.type === 'AIMessage')
    if (asked === undefined) return
    const calls = (asked.data.tool_calls ?? []).map((known, index) =>
      index === call.index ? { ...known, args } : known,
    )
    await log.append(run.thread_id, {
      messages: [{ ...asked, data: { ...asked.data, tool_calls: calls } }],
      source: 'update',
    })
  }
}

function notWaiting(): AppError {
  return new AppError('conflict', 'This run does not wait for a decision.')
}
