import { answerEntry, threadContract } from '../../domain/contracts/thread.ts'
import { AppError, invalidInput } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import { parseOwnExactJson } from '../../domain/json.ts'
import { checkTextSize, maxMessageBytes } from '../../domain/message-size.ts'
import { messagesFromJson } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import { logStore } from '../stores/log.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { RunStream } from './run-stream.ts'
import { ledgerStore, waitingRunStore } from './store.ts'

export interface Decision {
  action: 'approve' | 'reject' | 'edit'
  tool_call_id?: string
  args?: Record<string, unknown>
  message?: string
}

export interface DecisionDeps extends ResumptionDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls' | 'checkpoints'>
  log: Pick<ThreadLog, 'append'>
}

export type Decisions = ReturnType<typeof createDecisions>

/** People's decisions about the tool calls of a waiting run. */
export function createDecisions(deps: DecisionDeps) {
  const ledger = ledgerStore(deps.collections)
  const { waitingCalls, begin, goOn } = createResumption(deps)

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
    if (decision.action === 'edit') await publishEdits(run, waiting)
    return goOn(run)
  }

  /**
   * Finishes a decision of a process that died before it told the thread. Safe to repeat: a thread that is told
   * twice continues once.
   */
  async function finishAbandoned(run: RunRecord, now: number): Promise<void> {
    if (run.deciding_since === undefined || run.deciding_since.getTime() > now - abandonedAfterMs) return
    const waiting = await waitingCalls(run)
    if (waiting.some((call) => call.decision?.action === 'edit')) await publishEdits(run, waiting)
    await goOn(run)
  }

  async function decide(calls: ToolCallRecord[], { action, args, message }: Decision): Promise<number> {
    const made = { action, ...(message === undefined ? {} : { message }) }
    const changes = { decision: made, ...(action === 'edit' ? { args_json: JSON.stringify(args) } : {}) }
    let count = 0
    for (const { _id } of calls) if (await ledger.decide(_id, changes)) count += 1
    return count
  }

  /** The changed arguments are executed, and the history shows them. */
  async function publishEdits(run: RunRecord, [first]: ToolCallRecord[]): Promise<void> {
    if (first === undefined) return
    const [entry, calls] = await Promise.all([
      logStore(deps.collections).findStep(run.thread_id, run._id, answerEntry(first.step)),
      ledger.listOfStep(run._id, first.step),
    ])
    const answer = messagesFromJson(entry?.messages_json ?? '[]').find((message) => message.type === 'AIMessage')
    if (answer === undefined) return
    const argsOf = new Map(
      calls.map((call) => [call.index, parseOwnExactJson<Record<string, unknown>>(call.args_json)]),
    )
    const shown = (answer.data.tool_calls ?? []).map((call, index) => ({
      ...call,
      args: argsOf.get(index) ?? call.args,
    }))
    await deps.log.append(run.thread_id, {
      messages: [{ ...answer, data: { ...answer.data, tool_calls: shown } }],
      source: 'update',
      pastLimit: true,
    })
  }

  return { resumeRun, finishAbandoned, waitingCalls }
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

export interface ResumptionDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls'>
  workflows: Pick<WorkflowClient, 'signal'>
  stream: Pick<RunStream, 'publish'>
  onError(error: unknown): void
}

/** A decision takes milliseconds; after this time, the process that was writing one is considered dead. */
const abandonedAfterMs = 15_000

/** How a run that waits, for people or for its client, continues. */
export function createResumption({ collections, workflows, stream, onError }: ResumptionDeps) {
  const runs = waitingRunStore(collections)
  const ledger = ledgerStore(collections)

  /** If this process dies before the thread has been told, the sweep of runs takes over. */
  async function begin(run: RunRecord): Promise<void> {
    const now = Date.now()
    await runs.beginDecision(run, { deciding_since: new Date(now), check_at: new Date(now + abandonedAfterMs) })
  }

  /** The calls for which a run waits, of either kind, and those that were decided about and wait for the others. */
  const waitingCalls = (run: RunRecord) => ledger.listWaiting(run._id)

  /** Unless a call is still undecided, or waits for the client. Throws `conflict` if the run has ended meanwhile. */
  async function goOn(run: RunRecord): Promise<RunRecord> {
    let current = run
    const step = await toolCallStore(collections).lastStepOf(run._id)
    if (step !== undefined && !(await ledger.hasUndecided(run._id))) {
      const waitedMs = run.waiting_since === undefined ? 0 : Math.max(0, Date.now() - run.waiting_since.getTime())
      const resumed = await runs.resume(run, waitedMs)
      current = resumed ?? (await runStore(collections).findInThread(run)) ?? run
      if (!isOpenRun(current)) throw notWaiting()
      // A reader who joins now waits for what follows; if this entry is lost, the next message shows the same.
      await stream.publish(run._id, current.fence, [{ type: 'resumed' }]).catch(onError)
      const message = { runId: run._id, step }
      await workflows.signal(threadContract, { threadId: run.thread_id }, 'resumeRun', message)
    }
    const waitsForClient = await ledger.waitsForClient(run._id)
    return (await runs.endDecision(run, { waitsForClient })) ?? current
  }

  return { begin, waitingCalls, goOn }
}

export function notWaiting(what: 'a decision' | 'results' = 'a decision'): AppError {
  return new AppError('conflict', `This run does not wait for ${what}.`)
}
