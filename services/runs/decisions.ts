import { answerEntry, threadContract } from '../../domain/contracts/thread.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/free-form.ts'
import { checkTextSize, maxMessageBytes } from '../../domain/message-size.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { parseOwnJson } from '../../domain/own-json.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { RunStream } from './run-stream.ts'

export interface Decision {
  action: 'approve' | 'reject' | 'edit'
  tool_call_id?: string
  args?: Record<string, unknown>
  message?: string
}

export interface DecisionDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls' | 'checkpoints'>
  log: Pick<ThreadLog, 'append'>
  workflows: Pick<WorkflowClient, 'signal'>
  stream: Pick<RunStream, 'publish'>
  onError(error: unknown): void
}

/** A decision takes milliseconds; after this time, the process that was writing one is considered dead. */
const abandonedAfterMs = 15_000

export type Decisions = ReturnType<typeof createDecisions>

/** The result of a function of the client, as the model is told. */
export interface ToolOutput {
  tool_call_id: string
  output: string
}

/** Bytes of the results that a client sends for one answer: the thread's log holds them in one entry. */
const maxOutputBytes = 4 * 1024 * 1024

/** People's decisions about the tool calls of a waiting run, and the results of those that its client executes. */
export function createDecisions({ collections, log, workflows, stream, onError }: DecisionDeps) {
  const { runs, toolCalls, checkpoints } = collections
  const undecided = { status: 'waiting' as const, decision: { $exists: false } }

  /**
   * Writes a decision into the ledger. Each call is decided once; when all are decided, the run continues,
   * otherwise it keeps waiting. Throws `conflict` for a run or call that does not wait, and `invalid_input` for a
   * decision that matches no call.
   */
  async function resumeRun(run: RunRecord, decision: Decision): Promise<RunRecord> {
    if (run.status !== 'interrupted') throw notWaiting()
    if (decision.args !== undefined)
      checkTextSize(checkFreeForm(['body', 'args'], decision.args), maxMessageBytes.user, ['body', 'args'])
    const waiting = (await waitingCalls(run)).filter(({ client }) => !client)
    if (waiting.length === 0) throw notWaiting()
    const meant = meantBy(waiting, decision)
    await begin(run)
    const decided = await decide(meant, decision)
    if (decided === 0) throw notWaiting()
    if (decision.action === 'edit') await showEdits(run, waiting)
    return goOn(run)
  }

  /**
   * Writes results of the client into the ledger; when no call waits any more, the run continues. Each call is answered
   * once. Throws `conflict` for a run that does not wait for its client, and `invalid_input` for a result that matches no
   * call or is too long.
   */
  async function submitOutputs(run: RunRecord, outputs: ToolOutput[]): Promise<RunRecord> {
    if (run.status !== 'interrupted') throw notWaiting('results')
    const waiting = (await waitingCalls(run)).filter(({ client }) => client)
    const [first] = waiting
    if (first === undefined) throw notWaiting('results')
    const answered = outputs.map(({ tool_call_id: id, output }, index) => {
      const loc = ['body', 'tool_outputs', index]
      if (outputs.findIndex((other) => other.tool_call_id === id) < index)
        throw invalidInput([...loc, 'tool_call_id'], 'is repeated')
      const call = waiting.find(({ call_id }) => call_id === id)
      if (call === undefined) throw invalidInput([...loc, 'tool_call_id'], 'no waiting call has this id')
      checkTextSize(output, maxMessageBytes.user, [...loc, 'output'])
      return { call, output }
    })
    const before = await toolCalls.find({ run_id: run._id, step: first.step, client: true }, { result: 1 }).lean()
    const texts = [...before.map(({ result = '' }) => result), ...outputs.map(({ output }) => output)]
    if (texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0) > maxOutputBytes)
      throw invalidInput(['body', 'tool_outputs'], `hold more than ${maxOutputBytes} bytes together`, 'too_long')
    await begin(run)
    let count = 0
    for (const { call, output } of answered) {
      const done = { status: 'done' as const, result: output, finished_at: new Date() }
      const { modifiedCount } = await toolCalls.updateOne({ _id: call._id, status: 'waiting' }, { $set: done })
      count += modifiedCount
    }
    const now = await goOn(run)
    // Another request has answered one of them, or the run has ended.
    if (count < answered.length) throw notWaiting('results')
    return now
  }

  /** If this process dies before the thread has been told, the sweep of runs takes over. */
  async function begin(run: RunRecord): Promise<void> {
    const now = Date.now()
    await runs.updateOne(
      { _id: run._id, status: 'interrupted' },
      { $set: { deciding_since: new Date(now), check_at: new Date(now + abandonedAfterMs) } },
    )
  }

  /**
   * Finishes a decision of a process that died before it told the thread. Safe to repeat: a thread that is told
   * twice continues once.
   */
  async function finishAbandoned(run: RunRecord, now: number): Promise<void> {
    if (run.deciding_since === undefined || run.deciding_since.getTime() > now - abandonedAfterMs) return
    const waiting = await waitingCalls(run)
    if (waiting.some((call) => call.decision?.action === 'edit')) await showEdits(run, waiting)
    await goOn(run)
  }

  /** The calls for which a run waits, of either kind, and those that were decided about and wait for the others. */
  function waitingCalls(run: RunRecord): Promise<ToolCallRecord[]> {
    return toolCalls.find({ run_id: run._id, status: 'waiting' }).sort({ index: 1 }).lean<ToolCallRecord[]>()
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

  /** Unless a call is still undecided, or waits for the client. Throws `conflict` if the run has ended meanwhile. */
  async function goOn(run: RunRecord): Promise<RunRecord> {
    let current = run
    const last = await toolCalls.findOne({ run_id: run._id }, { step: 1 }).sort({ step: -1 }).lean()
    if (last !== null && !(await toolCalls.exists({ run_id: run._id, ...undecided }))) {
      const resumed = await runs
        .findOneAndUpdate(
          { _id: run._id, status: 'interrupted' },
          { $set: { status: 'running' }, $inc: { fence: 1 }, $unset: { last_data_event_id: 1, expires_at: 1 } },
          { returnDocument: 'after' },
        )
        .lean<RunRecord>()
      current = resumed ?? (await runs.findById(run._id).lean<RunRecord>()) ?? run
      if (!isOpenRun(current)) throw notWaiting()
      // A reader who joins now waits for what follows; if this entry is lost, the next message shows the same.
      await stream.publish(run._id, current.fence, [{ type: 'resumed' }]).catch(onError)
      const message = { runId: run._id, step: last.step }
      await workflows.signal(threadContract, { threadId: run.thread_id }, 'resumeRun', message)
    }
    await runs.updateOne({ _id: run._id }, { $unset: { deciding_since: 1 } })
    return current
  }

  /** The changed arguments are executed, and the history shows them. */
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
      pastLimit: true,
    })
  }

  return { resumeRun, submitOutputs, finishAbandoned, waitingCalls }
}

/** The waiting calls that a decision is about. */
function meantBy(waiting: ToolCallRecord[], { action, args, tool_call_id: callId }: Decision): ToolCallRecord[] {
  const meant = callId === undefined ? waiting : waiting.filter((call) => call.call_id === callId)
  if (meant.length === 0) throw invalidInput(['body', 'tool_call_id'], 'no waiting call has this id')
  if (action === 'edit' && args === undefined) throw invalidInput(['body', 'args'], 'is required with edit', 'missing')
  if (action === 'edit' && meant.length > 1)
    throw invalidInput(['body', 'tool_call_id'], 'is required: several calls wait', 'missing')
  return meant
}

function notWaiting(what: 'a decision' | 'results' = 'a decision'): AppError {
  return new AppError('conflict', `This run does not wait for ${what}.`)
}
