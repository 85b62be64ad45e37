import type { ClientSession } from 'mongoose'
import { type EntryId, eventIdOf } from '../../domain/event-ids.ts'
import { answerEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import type { AIMessage, Message } from '../../domain/messages.ts'
import type { ModelUsage, RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import { threadStore } from '../stores/threads.ts'
import type { StepDeps } from './step-deps.ts'
import { executedRunStore, ledgerStore } from './store.ts'
import type { Appended, LogEntry } from '../threads/log.ts'
import type { InputEntry } from '../threads/pending-input.ts'
import { SupersededError } from './live-runs.ts'
import { runUsage, sumByModel, usageByModel, usageOfMessage } from '../budgets/usage.ts'

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
  const asksForTools = (answer.data.tool_calls ?? []).length > 0
  const ended = {
    ...begun(run),
    ...lastDataEvent(lastId),
    finish_reason: answer.data.cut ?? (asksForTools ? ('tool_calls' as const) : ('stop' as const)),
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
  await deps.budgetCounting.settle({ ...run, ...ended }, usages).catch(deps.onError)
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
