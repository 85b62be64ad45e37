import type { StepResult } from '../../domain/contracts/thread.ts'
import { foldMessages, notifiedDecisions } from '../../domain/conversation.ts'
import { AppError } from '../../domain/errors.ts'
import {
  type AIMessage,
  type Message,
  type StoredMessage,
  type ToolCall,
  callsTools,
  storedMessagesFromJson,
  withoutMetadata,
} from '../../domain/messages.ts'
import { ModelFailure } from '../../domain/model-failure.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import { toolCallKey } from '../../domain/records/tool-call.ts'
import type { RunEntry } from '../../domain/run-events.ts'
import { readApprovedCalls } from '../../domain/run-overrides.ts'
import { tokensLeftFor, usageOfMessage } from '../budgets/usage.ts'
import { assistantStore } from '../stores/assistants.ts'
import { type Conversation, searchedBytes } from '../threads/conversations.ts'
import { type Appended, inputEntryOf, resultsEntryOf } from '../threads/log.ts'
import type { Tool } from '../tool.ts'
import { type Answer, type RunWriter, answerIdOf, createAnswer, createRunWriter } from './answer.ts'
import { type Spending, createSpending, reportModelFailure, publishedSoFar, storeLostAttempt } from './attempts.ts'
import type { ChatRequest } from './chat-model.ts'
import { chatRequestFor } from './chat-request.ts'
import { commitAnswer, commitEnd, storeAnswer, suggestsFor } from './commit.ts'
import { childRunOf } from './delegation/child-run.ts'
import { storedAnswer } from './earlier-attempt.ts'
import { callsLeftFor, ledgerEntries, planAnswer, plannedStep, toolMessages } from './ledger.ts'
import type { LiveRun } from './live-runs.ts'
import type { StepDeps } from './step-deps.ts'
import { ledgerStore } from './store.ts'

/**
 * One step of a run: sends the conversation to the model, streams the answer to readers and stores it. It may be
 * executed again after a crash: a stored answer is not requested again, and an unfinished one begins again under
 * the same message id. Nothing is stored before the run's parents have been checked. Throws `ModelFailure` if the model
 * gives no answer, `SupersededError` if the run was dropped.
 */
export async function modelStep(deps: StepDeps, live: LiveRun): Promise<StepResult> {
  const spending = createSpending(live.run, live.step)
  try {
    return await answerStep(deps, live, spending)
  } catch (error) {
    await spending.store(deps, { isTakenBack: live.signal.aborted })
    throw error
  }
}

async function answerStep(deps: StepDeps, live: LiveRun, spending: Spending): Promise<StepResult> {
  const { run, step, known, signal, isFresh } = live
  const runId = run._id
  const assistant = known?.assistant ?? (await assistantStore(deps.collections).findOfAny(run.assistant_id))
  if (assistant === null || assistant.deleting || assistant.suspended)
    throw new AppError('not_found', 'The assistant of this run is gone.')
  const config = deps.assistantConfigs.settingsOf(assistant)
  const answer = createAnswer(answerIdOf(runId, step))
  const writer = createRunWriter(deps, live, answer)

  const added =
    step === 0
      ? storedMessagesFromJson(run.input_json)
      : await toolMessages(deps.collections, { runId, step: step - 1 })
  for (const message of added) if (message.type === 'ToolMessage') writer.push([{ type: 'message', message }])

  // Looked up once, so that the model is offered the same tools from which its calls are planned.
  const callsLeft = callsLeftFor(deps.collections, run, step)
  const tools = Promise.all([deps.toolsOf(assistant, run, signal), callsLeft]).then(([all, left]) =>
    left === 0 ? all.filter(({ isClient }) => isClient) : all,
  )
  tools.catch(() => undefined)

  let conversation: Conversation | undefined
  const thread = known?.thread
  const ask = async (): Promise<AIMessage> => {
    const tokensLeft = await tokensLeftFor(deps, run, { step, usages: known?.usages })
    const prompt = await chatRequestFor(deps, {
      run,
      step,
      added,
      assistant,
      config,
      tools,
      thread,
      tokensLeft,
      signal,
    })
    conversation = prompt.conversation
    return streamAnswer(deps, prompt.request, { live, answer, writer, spending })
  }
  const stored = isFresh ? undefined : await storedAnswer(deps, { threadId: run.thread_id, runId, step })
  // A process that died has left no other trace of its attempt than what readers were shown. It may have had any fence:
  // first steps begin under that of the stored run, and a process goes on under the fence of its last step.
  if (known === undefined && stored === undefined)
    run.spent = (await storeLostAttempt(deps, run, { step, view: await publishedSoFar(deps, runId) })).spent
  const approved = step === 0 && stored === undefined ? await approvedCalls(deps, run, added) : []
  const message =
    stored ??
    (await (approved.length > 0 ? callsAgain(answer.id, approved) : ask())
      .finally(() => live.parentsChecked)
      .catch(async (error: unknown) => {
        throw error instanceof ModelFailure
          ? await reportModelFailure(deps, error, { run, thread, assistant, writer })
          : error
      }))
  await writer.drain()
  const input = step === 0 ? inputEntryOf(run) : resultsEntryOf(run, step - 1, added)
  const store = <T>(work: () => Promise<T>) => storeAnswer(work, { signal, onError: deps.onError })
  const keep = (answer: Appended) => deps.conversations.keep({ thread, conversation, message, answer })
  const end = async (): Promise<StepResult> => {
    const { lastId } = writer
    keep(await store(() => commitEnd(deps, run, step, message, { input, lastId, earlier: known?.usages })))
    writer.push([entryOf(message), { type: 'end' }])
    await writer.drain()
    const suggests = suggestsFor(deps.models, run)
    return { next: 'done', ...(suggests && { suggests }) }
  }
  if (!callsTools(message)) return end()
  const offered = await tools
  if (stored === undefined) nameChildRuns(message, { run, step, tools: offered })
  const calls =
    stored === undefined
      ? ledgerEntries(run, step, message, {
          tools: offered,
          unreadable: answer.unreadableCalls(),
          callsLeft: await callsLeft,
        })
      : await ledgerStore(deps.collections).listOfStep(runId, step)
  const plan = planAnswer({ run, message, tools: offered, calls })
  if (plan.isLast) return end()
  const needsApproval = (config.interruptBeforeAction && plan.hasWaiting) || plan.needsApproval
  const needsOnlyClient = plan.needsClient && plan.calls.length === 0
  const isWaiting = stored === undefined && (needsApproval || needsOnlyClient)
  const planned = plannedStep(plan, { run, isWaiting })
  if (stored === undefined) {
    const { expiresAfterMs } = planned
    const expiresAt = expiresAfterMs === undefined ? undefined : new Date(Date.now() + expiresAfterMs)
    const { lastId } = writer
    const stored = keep(
      await store(() => commitAnswer(deps, run, step, message, { input, calls, isWaiting, expiresAt, lastId })),
    )
    const usages = known?.usages && [...known.usages, ...usageOfMessage(message, run.model ?? '')]
    // People and clients take longer than a run waits in memory.
    if (!isWaiting && !planned.clientTurn) live.next = { assistant, thread: stored, usages }
  }
  writer.push([entryOf(message), ...(isWaiting ? [{ type: 'interrupted' } as const] : [])])
  await writer.drain()
  return { next: 'tools', ...planned, approval: isWaiting, maxSteps: config.maxSteps }
}

/**
 * The calls that the run begins with, because a person has allowed them since. Of runs that waited for each other with the
 * same decision, the first makes the call.
 */
async function approvedCalls(
  { conversations }: Pick<StepDeps, 'conversations'>,
  run: RunRecord,
  added: Message[],
): Promise<ToolCall[]> {
  const approved = readApprovedCalls(run.overrides.approved_calls_json)
  if (approved.length === 0) return []
  const { messages } = await conversations.read(run.thread_id, searchedBytes)
  const decisions = notifiedDecisions(foldMessages(messages, added))
  return approved.flatMap(({ call, decision }) => (decisions.has(decision) ? [call] : []))
}

/** In place of an answer of the model, which has asked for these calls before. */
async function callsAgain(id: string, calls: ToolCall[]): Promise<AIMessage> {
  return { type: 'AIMessage', data: { id, content: '', tool_calls: calls } }
}

function entryOf(message: StoredMessage): RunEntry {
  const sealed = message.data.provider_metadata
  return { type: 'message', message: withoutMetadata(message), ...(sealed === undefined ? {} : { sealed }) }
}

/** Readers of a call that asks another assistant can follow its run. */
function nameChildRuns(
  { data: { tool_calls: calls = [] } }: AIMessage,
  { run, step, tools }: { run: RunRecord; step: number; tools: Tool[] },
): void {
  const assistantTools = new Set(tools.filter(({ type }) => type === 'assistant').map(({ name }) => name))
  for (const [index, call] of calls.entries())
    if (assistantTools.has(call.name)) Object.assign(call, childRunOf(toolCallKey(run._id, step, index)))
}

/**
 * Asks the model and publishes its answer as it arrives. Throws `ModelFailure`, or the reason for which the run's signal
 * was aborted.
 */
async function streamAnswer(
  { model, providerMetadata, tracing }: StepDeps,
  request: ChatRequest,
  { live, answer, writer, spending }: { live: LiveRun; answer: Answer; writer: RunWriter; spending: Spending },
): Promise<AIMessage> {
  const { run, step, signal } = live
  const { temperature, maxTokens } = request
  // The record is this attempt's own copy; both are stored with the answer. A fallback that answers replaces the model.
  run.model = request.model
  const sent = spending.send(request)
  // Tells what is paid, should this process die before the first token.
  writer.push([{ type: 'asked', id: answer.id, sent }])

  async function stream(): Promise<AIMessage> {
    let begun = false
    try {
      for await (const delta of model.stream(request)) {
        spending.note(delta)
        if (delta.type === 'model') {
          run.model = delta.model
          continue
        }
        // `begin` clears the message for readers, so it is sent with the first text: an attempt that fails at once must
        // not erase the text of an earlier attempt. Both are pushed in one call, because the first push is published alone.
        const begin: RunEntry[] = begun ? [] : [answer.begin({ ...sent, model: run.model ?? sent.model })]
        begun = true
        run.first_token_ms ??= Math.max(0, Date.now() - run.created_at.getTime())
        writer.push([...begin, ...answer.add(delta)])
      }
    } catch (error) {
      if (!spending.isPaid(signal.aborted)) writer.push([{ type: 'asked', id: answer.id }])
      throw error
    } finally {
      await writer.drain()
    }
    signal.throwIfAborted()
    const message = answer.message(spending.usage())
    if (answer.metadata !== undefined)
      Object.assign(message.data, { provider_metadata: providerMetadata.seal(answer.metadata) })
    return message
  }

  return tracing.chat(run, { model: request.model, temperature, maxTokens, step }, stream, ({ data }) => ({
    model: run.model ?? request.model,
    usage: data.usage,
    finishReason: data.tool_calls?.length ? 'tool_calls' : 'stop',
  }))
}
