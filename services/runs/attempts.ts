import { ModelFailure } from '../../domain/model-failure.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { type ModelUsage, type RunRecord, type SpentAttempt, isOpenRun } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type RunView, type SentPrompt, applyEntries, emptyView } from '../../domain/run-events.ts'
import { usageByModel, usageOfEnded } from '../budgets/usage.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import { type RunWriter, answerIdOf } from './answer.ts'
import type { ChatRequest, ModelDelta } from './chat-model.ts'
import type { StepDeps } from './step-deps.ts'
import { executedRunStore } from './store.ts'

/**
 * Bytes of a token, where a provider counted none: English text has a little more, other languages, code and tables have
 * less.
 */
const bytesOfToken = 4
const tokensOfMessage = 4
/** Of an image, a sound or a file. */
const tokensOfPart = 1000

/** What one attempt has asked of a model, for the case that its answer is not stored: it is paid all the same. */
export type Spending = ReturnType<typeof createSpending>

type SpendingDeps = Pick<StepDeps, 'collections' | 'budgetCounting' | 'onError'>

/**
 * Follows one attempt of a step. A provider is paid for a question that it began to answer, or that was taken back while
 * it thought; one that it refused costs nothing.
 */
export function createSpending(run: RunRecord, step: number) {
  let sent: SentPrompt | undefined
  let usage: ModelUsage | undefined
  let written = 0
  let hasBegun = false

  function estimate(): ModelUsage | undefined {
    return sent && { model: run.model ?? sent.model, ...usageOf(sent.prompt, tokensOf(written)) }
  }

  return {
    /** The request is sent. Returns what readers of the run's stream are told, should this process die. */
    send(request: ChatRequest): SentPrompt {
      sent = { fence: run.fence, model: request.model, prompt: promptTokensOf(request) }
      return sent
    },

    note(delta: ModelDelta): void {
      hasBegun = true
      if (delta.type === 'usage') usage = { ...delta.usage, model: run.model ?? '' }
      if ('text' in delta) written += Buffer.byteLength(delta.text)
      if (delta.type === 'call') written += Buffer.byteLength(`${delta.name ?? ''}${delta.args ?? ''}`)
    },

    /** Whether the question costs something, although its answer is not stored. */
    isPaid: (isTakenBack: boolean): boolean => hasBegun || isTakenBack,

    /** What the provider counted, else an estimate. */
    usage: (): ModelUsage | undefined => usage ?? estimate(),

    /** The attempt ends without a stored answer. Never throws. */
    async store(deps: SpendingDeps, { isTakenBack }: { isTakenBack: boolean }): Promise<void> {
      const spent = this.isPaid(isTakenBack) ? (usage ?? estimate()) : undefined
      if (spent === undefined) return
      await storeSpent(deps, run, { ...spent, step, fence: run.fence }).catch(deps.onError)
    },
  }
}

/**
 * Adds an attempt to its run, once. If the run has been settled already, because the attempt ended late, its tokens are
 * added to the counts, too.
 */
async function storeSpent(
  { collections, budgetCounting }: SpendingDeps,
  run: RunRecord,
  spent: SpentAttempt,
): Promise<RunRecord | null> {
  const runs = executedRunStore(collections)
  const stored = await runs.addSpent(run, spent)
  if (stored === null || isOpenRun(stored) || stored.check_at !== undefined) return stored
  await runs.completeRecord(run, usageOfEnded(stored, await usageByModel(collections, stored)))
  await budgetCounting.addLate(stored, [spent])
  return stored
}

/**
 * Adds the attempt of a process that died after it had asked a model: the stream shows what was asked, and how far the
 * answer had come. Returns the run as it is stored then.
 */
export async function storeLostAttempt(
  deps: SpendingDeps,
  run: RunRecord,
  { step, view }: { step: number; view: RunView },
): Promise<RunRecord> {
  const id = answerIdOf(run._id, step)
  const content = view.messages.get(id)?.content
  if (view.asked?.id !== id || (content !== undefined && 'whole' in content)) return run
  const { sent } = view.asked
  if (run.spent?.some(({ fence }) => fence === sent.fence)) return run
  // Before its first token, readers are shown the answer of the attempt before.
  const pieces = content?.pieces.sent?.fence === sent.fence ? content.pieces : undefined
  const calls = [...(pieces?.calls.values() ?? [])].flatMap(({ name, args }) => [name, args])
  const texts = [pieces?.text ?? '', pieces?.refusal ?? '', ...calls]
  const usage = usageOf(sent.prompt, tokensOf(Buffer.byteLength(texts.join(''))))
  const stored = await storeSpent(deps, run, { ...usage, model: sent.model, step, fence: sent.fence })
  // Its process has stored it meanwhile, if it did not die.
  return stored ?? (await runStore(deps.collections).findInThread(run)) ?? run
}

function usageOf(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

const tokensOf = (bytes: number) => Math.ceil(bytes / bytesOfToken)

function promptTokensOf({ messages, tools, responseFormat }: ChatRequest): number {
  let bytes = tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(tools))
  if (responseFormat !== undefined) bytes += Buffer.byteLength(JSON.stringify(responseFormat))
  let tokens = 0
  for (const message of messages) {
    tokens += tokensOfMessage
    const { content } = message
    for (const part of typeof content === 'string' ? [content] : (content ?? [])) {
      if (typeof part === 'string') bytes += Buffer.byteLength(part)
      else if (part.type === 'text') bytes += Buffer.byteLength(part.text)
      else tokens += tokensOfPart
    }
    if ('tool_calls' in message)
      for (const { function: called } of message.tool_calls ?? [])
        bytes += Buffer.byteLength(called.name) + Buffer.byteLength(called.arguments)
  }
  return tokens + tokensOf(bytes)
}

/** What readers have received of a run; nothing if its stream cannot be read. */
export async function publishedSoFar(
  { stream, onError }: Pick<StepDeps, 'stream' | 'onError'>,
  runId: string,
): Promise<RunView> {
  const view = emptyView()
  try {
    for (const { id, entries } of await stream.read(runId)) applyEntries(view, id, entries)
  } catch (error) {
    onError(error)
  }
  return view
}

interface FailedAttempt {
  run: RunRecord
  /** Undefined if it has not been read. */
  thread: ThreadRecord | undefined
  assistant: AssistantRecord
  writer: RunWriter
}

/**
 * Logs the reason, stores what the server said for the run's error, and tells readers at once if the model is asked
 * again, because that may take a while. Returns the failure for the workflow. What the server said of a run that is
 * not stored is not kept anywhere.
 */
export async function reportModelFailure(
  deps: StepDeps,
  error: ModelFailure,
  { run, thread, assistant, writer }: FailedAttempt,
): Promise<ModelFailure> {
  const failure = (await isStored(deps, thread, run)) ? error : withoutDetails(error)
  deps.onModelFailure(run, deps.accountOf(assistant), failure)
  if (failure.details !== '')
    await executedRunStore(deps.collections).noteFailure(run, failure.details).catch(deps.onError)
  if (failure.retryable) {
    writer.push([{ type: 'retrying' }])
    await writer.drain()
  }
  return withoutDetails(failure)
}

/** Whether the thread stays after the run: see docs/retention.md. */
async function isStored({ collections }: StepDeps, known: ThreadRecord | undefined, run: RunRecord): Promise<boolean> {
  const thread = known ?? (await threadStore(collections).findExpiryOfAny(run.thread_id))
  return thread !== null && thread.expires_at === undefined
}

/**
 * Servers quote the request in their errors, and the workflow's history would keep the quotation. It is stored with
 * the run instead.
 */
function withoutDetails({ message, statusCode, type, retryable, retryAfterMs }: ModelFailure): ModelFailure {
  return new ModelFailure(message, { statusCode, type, retryable, retryAfterMs })
}
