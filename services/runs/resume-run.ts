import { answerEntry } from '../../domain/contracts/thread.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
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
 * Writes a person's decision into the ledger. Each call is decided about once; when none is left
 * undecided, the run goes on, else it keeps waiting. Throws `conflict` for a run or call that does
 * not wait, and `invalid_input` for a decision that fits no call.
 */
export function createResumeRun({ collections, log, actor, stream, onError }: ResumeDeps) {
  const { runs, toolCalls, checkpoints } = collections
  const undecided = { status: 'waiting' as const, decision: { $exists: false } }

  return async (run: RunRecord, decision: Decision): Promise<RunRecord> => {
    const waiting = await toolCalls
      .find({ run_id: run._id, status: 'waiting' })
      .sort({ index: 1 })
      .lean<ToolCallRecord[]>()
    if (run.status !== 'interrupted') {
      await repeatSignal(run, waiting)
      throw notWaiting()
    }
    const decided = await decide(meantBy(waiting, decision), decision)
    if (decided === 0) throw notWaiting()
    if (decision.action === 'edit') await showEdits(run, waiting)
    const [first] = waiting
    if (first === undefined || (await toolCalls.exists({ run_id: run._id, ...undecided }))) return run
    return (await goOn(run, first.step)) ?? run
  }

  async function decide(calls: ToolCallRecord[], { action, args, message }: Decision): Promise<number> {
    const made = { action, ...(message === undefined ? {} : { message }) }
    const changes = { decision: made, ...(action === 'edit' ? { args_json: JSON.stringify(args) } : {}) }
    let count = 0
    for (const { _id } of calls) {
      const { modifiedCount } = await toolCalls.updateOne({ _id, ...undecided }, { $set: changes })
      count += modifiedCount
    }
    return count
  }

  async function goOn(run: RunRecord, step: number): Promise<RunRecord | null> {
    const resumed = await runs
      .findOneAndUpdate(
        { _id: run._id, status: 'interrupted' },
        { $set: { status: 'running' }, $inc: { fence: 1 } },
        { returnDocument: 'after' },
      )
      .lean<RunRecord>()
    if (resumed === null) return null
    // Who joins from here on waits for what follows; without this entry the next message says the same.
    await stream.publish(run._id, resumed.fence, [{ type: 'resumed' }]).catch(onError)
    await actor.resume(run.thread_id, run._id, step)
    return resumed
  }

  /** A run whose calls are decided but untouched may have lost its signal with the process that sent it. */
  async function repeatSignal(run: RunRecord, waiting: ToolCallRecord[]): Promise<void> {
    const [first] = waiting
    if (run.status === 'running' && first?.decision !== undefined)
      await actor.resume(run.thread_id, run._id, first.step)
  }

  /** The changed arguments are what is executed, and what the history shows. */
  async function showEdits(run: RunRecord, [first]: ToolCallRecord[]): Promise<void> {
    if (first === undefined) return
    const [entry, calls] = await Promise.all([
      checkpoints.findOne({ run_id: run._id, step: answerEntry(first.step) }).lean(),
      toolCalls.find({ run_id: run._id, step: first.step }).lean<ToolCallRecord[]>(),
    ])
    const asked = messagesFromJson(entry?.messages_json ?? '[]').find((message) => message.type === 'AIMessage')
    if (asked === undefined) return
    const argsOf = new Map(calls.map((call) => [call.index, parseOwnJson<Record<string, unknown>>(call.args_json)]))
    const shown = (asked.data.tool_calls ?? []).map((call, index) => ({
      ...call,
      args: argsOf.get(index) ?? call.args,
    }))
    await log.append(run.thread_id, {
      messages: [{ ...asked, data: { ...asked.data, tool_calls: shown } }],
      source: 'update',
    })
  }
}

/** The waiting calls that a decision is about. */
function meantBy(waiting: ToolCallRecord[], { action, args, tool_call_id: callId }: Decision): ToolCallRecord[] {
  const meant = callId === undefined ? waiting : waiting.filter((call) => call.call_id === callId)
  if (meant.length === 0) throw invalidInput(['body', 'tool_call_id'], 'no such call is waiting')
  if (action === 'edit' && args === undefined) throw invalidInput(['body', 'args'], 'is required with edit', 'missing')
  if (action === 'edit' && meant.length > 1)
    throw invalidInput(['body', 'tool_call_id'], 'is required: several calls wait', 'missing')
  return meant
}

function notWaiting(): AppError {
  return new AppError('conflict', 'This run does not wait for a decision.')
}
