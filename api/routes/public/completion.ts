import { addAll } from '../../../domain/add-all.ts'
import {
  type AnswerChange,
  type CallSoFar,
  createAnswerChanges,
  writtenCallsOf,
} from '../../../domain/answer-changes.ts'
import type { TokenLogprob } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { type RunView, wholeMessagesOf } from '../../../domain/run-events.ts'
import { sumUsage } from '../../../services/budgets/usage.ts'
import type { ChatCompletion, CompletionUsage } from './chat-schemas.ts'

/** Separates the texts of two steps of one run, which a client of this API sees as one answer. */
const betweenSteps = '\n\n'

export interface CompletionOptions {
  /** The run of the first choice. */
  run: Pick<RunRecord, '_id' | 'created_at'>
  /** The model name in the request. */
  model: string
  /** Functions of the client: only their calls are shown. */
  clientTools: ReadonlySet<string>
  /** Calls are shown by their old name, `function_call`. */
  isOld?: boolean
  metadata?: Record<string, unknown> | undefined
  /** Whether the caller may read what the model thinks. */
  showsReasoning: boolean
}

export interface ChatChunk extends Pick<ChatCompletion, 'id' | 'created' | 'model'> {
  choices: {
    index: number
    delta: { role?: string; content?: string | null }
    logprobs: { content: TokenLogprob[] } | null
    finish_reason: ChatCompletion['choices'][number]['finish_reason'] | null
  }[]
  usage?: object | null
}

type Choice = ChatCompletion['choices'][number]

type CallChange = Extract<AnswerChange, { type: 'call' }>

/** What is new of one answer. */
interface AnswerAdvance {
  text: string
  reasoning: string
  refusal: string
  logprobs: TokenLogprob[]
  calls: CallChange[]
}

type AnswerProgressOptions = Pick<CompletionOptions, 'clientTools' | 'showsReasoning'>

/** The new text and calls of a run's answer. `undefined`: the answer contradicts what was sent. */
export function createAnswerProgress({ clientTools, showsReasoning }: AnswerProgressOptions) {
  const { changes } = createAnswerChanges({ isShown: (name) => clientTools.has(name) })
  let begun = ''
  return (view: RunView): AnswerAdvance | undefined => {
    const added: AnswerAdvance = { text: '', reasoning: '', refusal: '', logprobs: [], calls: [] }
    for (const change of changes(view)) {
      // Thinking that a later attempt contradicts is no answer that breaks.
      if (change.type === 'begins again' && change.what !== 'reasoning') return undefined
      if (change.type === 'logprobs') addAll(added.logprobs, change.tokens)
      if (change.type === 'call') added.calls.push(change)
      if (change.type === 'refusal' || (change.type === 'reasoning' && showsReasoning))
        added[change.type] += change.delta
      if (change.type !== 'text') continue
      added.text += begun === '' || begun === change.folded.id ? change.delta : betweenSteps + change.delta
      begun = change.folded.id
    }
    return added
  }
}

export function isEmpty({ text, reasoning, refusal, logprobs, calls }: AnswerAdvance): boolean {
  return text === '' && reasoning === '' && refusal === '' && logprobs.length === 0 && calls.length === 0
}

/** The answer of a request whose runs have ended: one choice each. */
export function chatCompletion(options: CompletionOptions, views: RunView[]): ChatCompletion {
  const usage = usageOf(views)
  return {
    ...head(options),
    object: 'chat.completion',
    choices: views.map((view, index) => choiceOf(view, index, options)),
    ...(usage ? { usage } : {}),
    ...(options.metadata === undefined ? {} : { metadata: options.metadata }),
  }
}

function choiceOf(view: RunView, index: number, options: CompletionOptions): Choice {
  const { clientTools, isOld } = options
  const added = createAnswerProgress(options)(view)
  const { text = '', reasoning = '', refusal = '', logprobs = [] } = added ?? {}
  const calls = openCallsOf(view, clientTools)
  return {
    index,
    message: {
      role: 'assistant',
      content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
      refusal: refusal === '' ? null : refusal,
      ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
      ...(calls.length > 0 && !isOld ? { tool_calls: calls.map(toCompatCall) } : {}),
      ...(calls[0] !== undefined && isOld ? { function_call: toCompatCall(calls[0]).function } : {}),
    },
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishReasonOf(view, options),
  }
}

/** The calls with which the run ended: those of its last answer. */
function openCallsOf(view: RunView, clientTools: ReadonlySet<string>): CallSoFar[] {
  const last = [...view.messages.values()].findLast(
    ({ content }) => 'whole' in content && content.whole.type === 'AIMessage',
  )
  return last === undefined ? [] : writtenCallsOf(last, clientTools)
}

function toCompatCall({ id, name, arguments: text }: CallSoFar) {
  return { id, type: 'function' as const, function: { name, arguments: text } }
}

/** Chunks of a streamed answer; with `includeUsage`, each has `usage: null`, as the API requires. */
export function completionChunks(options: CompletionOptions, includeUsage: boolean) {
  const later = includeUsage ? { usage: null } : {}
  const chunk = (
    index: number,
    delta: { role?: string; content?: string; [member: string]: unknown },
    finishReason: Choice['finish_reason'] | null,
    logprobs: TokenLogprob[] = [],
  ) => ({
    ...head(options),
    object: 'chat.completion.chunk',
    choices: [
      {
        index,
        delta,
        logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
        finish_reason: finishReason,
      },
    ],
    ...later,
  })
  return {
    begin: (index: number) => chunk(index, { role: 'assistant', content: '' }, null),
    more: (index: number, { text, reasoning, refusal, logprobs, calls }: AnswerAdvance) =>
      chunk(
        index,
        {
          ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
          ...(text === '' ? {} : { content: text }),
          ...(refusal === '' ? {} : { refusal }),
          ...(options.isOld ? oldDelta(calls) : calls.length > 0 ? { tool_calls: calls.map(callDelta) } : {}),
        },
        null,
        logprobs,
      ),
    end: (index: number, view: RunView) => chunk(index, {}, finishReasonOf(view, options)),
    usage: (usage: CompletionUsage) => ({ ...head(options), object: 'chat.completion.chunk', choices: [], usage }),
  }
}

function callDelta({ number: index, call, isFirst, delta }: CallChange) {
  if (!isFirst) return { index, function: { arguments: delta } }
  return { index, id: call.id, type: 'function', function: { name: call.name, arguments: delta } }
}

/** By the old name there is one call: the first. */
function oldDelta(calls: CallChange[]) {
  const first = calls.find(({ number }) => number === 0)
  return first === undefined ? {} : { function_call: callDelta(first).function }
}

function head({ run, model }: CompletionOptions) {
  return { id: `chatcmpl-${run._id}`, created: Math.floor(run.created_at.getTime() / 1000), model }
}

function answersOf(view: RunView) {
  return wholeMessagesOf(view).flatMap((message) => (message.type === 'AIMessage' ? [message.data] : []))
}

function finishReasonOf(view: RunView, { clientTools, isOld }: CompletionOptions): Choice['finish_reason'] {
  const called = isOld ? 'function_call' : 'tool_calls'
  const cut = answersOf(view).at(-1)?.cut
  return cut ?? (openCallsOf(view, clientTools).length > 0 ? called : 'stop')
}

/** Tokens of all steps of all choices, as counted by the model; undefined if it gave none. */
export function usageOf(views: RunView[]): CompletionUsage | undefined {
  const usage = sumUsage(views.flatMap(answersOf).flatMap((answer) => answer.usage ?? []))
  if (usage === undefined) return undefined
  const { cached_tokens: cached, cache_write_tokens: _written, reasoning_tokens: reasoning, ...counts } = usage
  return {
    ...counts,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }
}
