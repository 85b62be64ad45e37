import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession } from 'mongoose'
import { backOffMs } from '../../domain/back-off.ts'
import { type RunOwners, answerEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import { AppError, isRetryable } from '../../domain/errors.ts'
import { type EntryId, eventIdOf } from '../../domain/ids.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import { type ModelUsage, type RunRecord, actingOf } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { runUsage, sumByModel, usageByModel, usageOfMessage } from '../budgets/usage.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { threadStore } from '../stores/threads.ts'
import type { Appended, InputEntry, LogEntry } from '../threads/log.ts'
import { SupersededError } from './live-runs.ts'
import type { StepDeps } from './step-deps.ts'
import { executedRunStore, ledgerStore } from './store.ts'

/**
 * Stores an answer with tool calls, and the calls in the ledger, in one transaction; nothing if the run was taken
 * over.
 */
export async function commitAnswer(
  deps: StepDeps,
  run: RunRecord,
  step: number,
  message: AIMessage,
  {
    input,
    calls,
    isWaiting,
    expiresAt,
    lastId,
  }: {
    input: InputEntry
    calls: ToolCallRecord[]
    isWaiting: boolean
    expiresAt: Date | undefined
    lastId: EntryId | undefined
  },
): Promise<Appended> {
  return deps.log.append(run.thread_id, {
    messages: [message],
    source: 'step',
    runId: run._id,
    step: answerEntry(step),
    model: run.model,
    input,
    guard: async (session) => {
      const expiry = expiresAt === undefined ? {} : { expires_at: expiresAt }
      const status = isWaiting
        ? { status: 'interrupted' as const, waiting_since: new Date(), ...lastDataEvent(lastId), ...expiry }
        : { status: 'running' as const }
      const changes = { ...status, ...begun(run), step_fence: run.fence }
      await takeIfMine(deps, run, changes, session)
      await ledgerStore(deps.collections).addAll(calls, session)
    },
  })
}

/**
 * Stores the last answer and the success of the run in one transaction. If the answer is stored already (its
 * attempt died before the run was finished, or another attempt was faster), only the success is stored.
 */
export async function commitEnd(
  deps: StepDeps,
  run: RunRecord,
  step: number,
  answer: AIMessage,
  {
    input,
    lastId,
    earlier = step === 0 ? [] : undefined,
  }: {
    input: InputEntry
    lastId: EntryId | undefined
    /** The tokens of the steps before; read if they are not given. */
    earlier?: ModelUsage[] | undefined
  },
): Promise<Appended> {
  const usages = earlier
    ? sumByModel([...earlier, ...usageOfMessage(answer, run.model ?? ''), ...(run.spent ?? [])])
    : await usageByModel(deps.collections, run, answer)
  const callsTools = (answer.data.tool_calls ?? []).length > 0
  const ended = {
    ...begun(run),
    ...lastDataEvent(lastId),
    finish_reason: answer.data.cut ?? (callsTools ? ('tool_calls' as const) : ('stop' as const)),
  }
  return end(deps, run, {
    ended,
    usages,
    entry: { messages: [answer], source: 'step', step: answerEntry(step), input },
  })
}

/** As `commitEnd` for a run whose last answer is stored: its client executes calls of that answer after the run. */
export async function commitResultsAsEnd(
  deps: StepDeps,
  run: RunRecord,
  step: number,
  { results, lastEvent }: { results: Message[]; lastEvent: Pick<RunRecord, 'last_data_event_id'> },
): Promise<void> {
  await end(deps, run, {
    ended: { ...lastEvent, finish_reason: 'tool_calls' },
    usages: await usageByModel(deps.collections, run),
    entry: { messages: results, source: 'tools', step: toolsEntry(step), pastLimit: true },
  })
}

/** Stores the last entry of a run together with its success. */
async function end(
  deps: StepDeps,
  run: RunRecord,
  { ended: changes, usages, entry }: { ended: Partial<RunRecord>; usages: ModelUsage[]; entry: LogEntry },
): Promise<Appended> {
  const ended = { ...changes, status: 'success' as const, finished_at: new Date(), ...runUsage(usages) }
  const finish = (session?: ClientSession) => takeIfMine(deps, run, ended, session)
  const appended = await deps.log.append(run.thread_id, {
    ...entry,
    runId: run._id,
    thread: { last_outcome: 'success' },
    guard: finish,
  })
  if (!appended.isNew) {
    await finish()
    await threadStore(deps.collections).noteOutcome(run.thread_id, 'success')
  }
  deps.tracing.ended({ ...run, ...ended })
  await deps.budgetCounting.recordCost({ ...run, ...ended }, usages).catch(deps.onError)
  return appended
}

/** What only the attempt knows of its run, stored with its result: its model, and when its first word came. */
function begun({ model, first_token_ms }: RunRecord): Partial<RunRecord> {
  return {
    ...(model === undefined ? {} : { model }),
    ...(first_token_ms === undefined ? {} : { first_token_ms }),
  }
}

/** After the newest entry so far, readers receive the whole answer, once it is stored. */
function lastDataEvent(lastId: EntryId | undefined): Pick<RunRecord, 'last_data_event_id'> {
  return lastId === undefined ? {} : { last_data_event_id: eventIdOf(lastId, 'final') }
}

/** Changes the run, unless it was taken over. */
async function takeIfMine(
  { collections }: Pick<StepDeps, 'collections'>,
  run: RunRecord,
  changes: Partial<RunRecord> & Pick<RunRecord, 'status'>,
  session?: ClientSession,
): Promise<void> {
  if (!(await executedRunStore(collections).changeMine(run, changes, session))) throw new SupersededError()
}

/** A model has answered, and its answer cannot be stored. The model is not asked again: another answer costs as much. */
export class AnswerNotStoredError extends Error {
  constructor(cause: unknown) {
    super('The answer could not be stored.', { cause })
    this.name = 'AnswerNotStoredError'
  }
}

const attempts = 10
const pauses = { firstMs: 200, longestMs: 20_000 }

/**
 * Stores an answer, and tries again when that fails, for a minute: the database may be away. Throws at once what no
 * repetition changes, `AnswerNotStoredError` in the end, or the signal's reason.
 */
export async function storeAnswer<T>(
  work: () => Promise<T>,
  {
    signal,
    onError,
    wait = (ms) => sleep(ms, undefined, { signal }),
  }: { signal: AbortSignal; onError(error: unknown): void; wait?(ms: number): Promise<unknown> },
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof SupersededError || (error instanceof AppError && !isRetryable[error.code])) throw error
      signal.throwIfAborted()
      onError(error)
      if (attempt === attempts) throw new AnswerNotStoredError(error)
      await wait(backOffMs(attempt, pauses))
    }
  }
}

/** For whom the small model is asked after a run that ended with success; undefined if it is not asked. */
export function suggestsFor(models: ModelsNow, run: RunRecord): RunOwners | undefined {
  if (models.current().smallModel === undefined || !isRunOfChat(run)) return undefined
  return { userId: run.user_id, projectId: run.project_id, assistantId: run.assistant_id }
}

/** Whether a person chats, in place of a program that asks for one answer. */
export function isRunOfChat(run: RunRecord): boolean {
  const { completion, response_json: response, asked_by: askedBy, imported } = run
  const isOfProgram = completion !== undefined || response !== undefined || askedBy !== undefined
  return actingOf(run).origin === 'chat' && !run.public && !isOfProgram && !imported
}
