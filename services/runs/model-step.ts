import { type StepInput, type StepResult, answerEntry, toolsEntry } from '../../domain/contracts/thread.ts'
import { AppError } from '../../domain/errors.ts'
import { type AIMessage, type Message, asksForTools, messagesFromJson } from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Appended } from '../threads/log.ts'
import { commitAnswer, commitEnd } from './commit.ts'
import type { StepDeps } from './step-deps.ts'
import type { LiveRun } from './live-run.ts'
import { ledgerEntries, plannedTools, toolMessages } from './ledger.ts'
import { createRunWriter } from './run-writer.ts'
import { createAnswer } from './answer.ts'
import { keepConversation } from './keep-conversation.ts'
import { reportModelFailure } from './model-failures.ts'
import { askModel } from './ask-model.ts'
import type { Conversation } from '../threads/conversations.ts'
import { usageOfMessage } from './usage.ts'

/**
 * One step of a run: sends the conversation to the model, streams the answer to readers and stores it. It may be
 * executed again after a crash: a stored answer is not requested again, and an unfinished one begins again under
 * the same message id. Nothing is stored before the run's parents have been checked. Throws `ModelFailure` if the model
 * gives no answer, `SupersededError` if the run was dropped.
 */
export async function modelStep(deps: StepDeps, live: LiveRun): Promise<StepResult> {
  const { run, step, known, signal, isFresh } = live
  const runId = run._id
  const assistant =
    known?.assistant ?? (await deps.collections.assistants.findById(run.assistant_id).lean<AssistantRecord>())
  if (assistant === null || assistant.deleting || assistant.suspended)
    throw new AppError('not_found', 'The assistant of this run is gone.')
  const config = deps.assistantConfigs.settingsOf(assistant)

  const answer = createAnswer(answerIdOf(runId, step))
  const writer = createRunWriter({
    stream: deps.stream,
    runId,
    fence: run.fence,
    initial: step === 0 ? [{ type: 'open' }] : [],
    isRefused: () => live.state === 'dropped',
    restate: () => answer.entries(),
    onSuperseded: () => live.apply('supersede'),
    onError: deps.onError,
  })

  const added =
    step === 0 ? messagesFromJson(run.input_json) : await toolMessages(deps.collections, { runId, step: step - 1 })
  for (const message of added) if (message.type === 'ToolMessage') writer.push({ type: 'message', message })
  // The model is called while this is being stored; if storing is refused (the thread is being deleted), the call
  // is aborted.
  const recorded = step === 0 ? Promise.resolve(undefined) : recordToolResults(deps, run, step, added)
  recorded.catch((error: unknown) => live.cancel(error))

  // Looked up once, so that the model is offered the same tools from which its calls are planned.
  const tools = deps.toolsOf(assistant, signal)
  tools.catch(() => undefined)

  let conversation: Conversation | undefined
  const thread = known?.thread
  const onConversation = (shown: Conversation) => {
    conversation = shown
  }
  const stored = isFresh ? undefined : await storedAnswer(deps, runId, step)
  const message =
    stored ??
    (await askModel(deps, {
      run,
      step,
      added,
      assistant,
      tools,
      config,
      answer,
      writer,
      signal,
      thread,
      onConversation,
    })
      .finally(() => live.parentsChecked)
      .catch(async (error: unknown) => {
        throw error instanceof ModelFailure
          ? await reportModelFailure(deps, error, { run, thread, assistant, writer })
          : error
      })
      .finally(() => recorded.catch(() => undefined)))
  const [toolResults] = await Promise.all([recorded, writer.drain()])
  const keep = (stored: Appended) =>
    keepConversation(deps.conversations, { thread, conversation, message, toolResults, answer: stored })
  if (!asksForTools(message)) {
    keep(await commitEnd(deps, run, step, message, { lastId: writer.lastId, earlier: known?.usages }))
    writer.push({ type: 'message', message }, { type: 'end' })
    await writer.drain()
    return { next: 'done' }
  }
  const planned = plannedTools(message, await tools)
  let approval = false
  if (stored === undefined) {
    const calls = ledgerEntries(run, step, message, answer.unreadableCalls())
    approval = config.interruptBeforeAction && calls.some((call) => call.status === 'waiting')
    const kept = keep(await commitAnswer(deps, run, step, message, { calls, approval, lastId: writer.lastId }))
    const usages = known?.usages && [...known.usages, ...usageOfMessage(message, run.model ?? '')]
    run.status = 'running'
    // People take longer to decide than a run waits in memory.
    if (!approval) live.next = { assistant, thread: kept, usages }
  }
  writer.push({ type: 'message', message }, ...(approval ? [{ type: 'interrupted' } as const] : []))
  await writer.drain()
  return { next: 'tools', ...planned, approval, maxSteps: config.maxSteps }
}

function recordToolResults(deps: StepDeps, run: RunRecord, step: number, messages: Message[]): Promise<Appended> {
  return deps.log.append(run.thread_id, { messages, source: 'tools', runId: run._id, step: toolsEntry(step - 1) })
}

/** The id of a step's answer, made from run and step, so that a second attempt uses the same id. */
export function answerIdOf(runId: string, step: number): string {
  return `${runId}-${step}`
}

async function storedAnswer({ collections }: StepDeps, runId: string, step: number): Promise<AIMessage | undefined> {
  const entry = await collections.checkpoints.findOne({ run_id: runId, step: answerEntry(step) }).lean()
  return entry === null
    ? undefined
    : messagesFromJson(entry.messages_json).find((message) => message.type === 'AIMessage')
}

/**
 * The run is not open: it has ended, or a repeated step has already interrupted it. The stored records tell which.
 */
export async function resultOfEarlierAttempt(deps: StepDeps, { runId, step }: StepInput): Promise<StepResult> {
  const run = await deps.collections.runs.findById(runId).lean<RunRecord>()
  if (run === null) return { next: 'done', status: 'cancelled' }
  // The attempt that stored the end may have died before it counted the cost.
  if (run.status === 'success') await deps.budgetCounting.settle(run).catch(deps.onError)
  const message = run.status === 'interrupted' ? await storedAnswer(deps, runId, step) : undefined
  const assistant = await deps.collections.assistants.findById(run.assistant_id).lean<AssistantRecord>()
  if (message === undefined || assistant === null) return { next: 'done', status: run.status }
  const config = deps.assistantConfigs.settingsOf(assistant)
  const known = await deps.toolsOf(assistant, new AbortController().signal)
  return { next: 'tools', ...plannedTools(message, known), approval: true, maxSteps: config.maxSteps }
}
