import { addAll } from '../../../domain/add-all.ts'
import { type ClientCall, type CallAdvance, clientCallsOf, createCallProgress } from '../../../domain/call-progress.ts'
import type { Message, TokenLogprob } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { sumUsage } from '../../../domain/sum-usage.ts'
import type { RunView } from '../../../domain/run-events.ts'
import { createTextProgress, reasoningText, refusalText } from '../../../domain/text-progress.ts'
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

type Choice = ChatCompletion['choices'][number]

/** What is new of one answer. */
export interface AnswerAdvance {
  text: string
  reasoning: string
  refusal: string
  logprobs: TokenLogprob[]
  calls: CallAdvance[]
}

type AnswerProgressOptions = Pick<CompletionOptions, 'clientTools' | 'showsReasoning'>

/** The new text and calls of a run's answer. `undefined`: the answer contradicts what was sent. */
export function createAnswerProgress({ clientTools, showsReasoning }: AnswerProgressOptions) {
  const progress = createTextProgress()
  const refusals = createTextProgress(refusalText)
  const thoughts = createTextProgress(reasoningText)
  const callProgress = createCallProgress(clientTools)
  const sentLogprobs = new Map<string, number>()
  let begun = ''
  return (view: RunView): AnswerAdvance | undefined => {
    const added: AnswerAdvance = { text: '', reasoning: '', refusal: '', logprobs: [], calls: [] }
    for (const folded of view.messages.values()) {
      const { delta, contradicted } = progress.advance(folded)
      const calls = callProgress.advance(folded)
      const refused = refusals.advance(folded)
      if (contradicted || refused.contradicted || calls === undefined) return undefined
      // Thinking that a later attempt contradicts is no answer that breaks.
      if (showsReasoning) added.reasoning += thoughts.advance(folded).delta
      added.refusal += refused.delta
      addAll(added.calls, calls)
      const { content } = folded
      const logprobs = 'pieces' in content ? content.pieces.logprobs : logprobsOf(content.whole)
      addAll(added.logprobs, logprobs.slice(sentLogprobs.get(folded.id) ?? 0))
      sentLogprobs.set(folded.id, Math.max(logprobs.length, sentLogprobs.get(folded.id) ?? 0))
      if (delta === '') continue
      if (begun !== '' && begun !== folded.id) added.text += betweenSteps
      begun = folded.id
      added.text += delta
    }
    return added
  }
}

const logprobsOf = (message: Message) => (message.type === 'AIMessage' ? (message.data.logprobs ?? []) : [])

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
      ...(calls.length > 0 && !isOld ? { tool_calls: calls.map(callShape) } : {}),
      ...(calls[0] !== undefined && isOld ? { function_call: callShape(calls[0]).function } : {}),
    },
    logprobs: logprobs.length > 0 ? { content: logprobs, refusal: null } : null,
    finish_reason: finishReasonOf(view, options),
  }
}

/** The calls with which the run ended: those of its last answer. */
function openCallsOf(view: RunView, clientTools: ReadonlySet<string>): ClientCall[] {
  const last = [...view.messages.values()].findLast(
    ({ content }) => 'whole' in content && content.whole.type === 'AIMessage',
  )
  return last === undefined ? [] : clientCallsOf(last, clientTools)
}

function callShape({ id, name, args }: ClientCall) {
  return { id, type: 'function' as const, function: { name, arguments: args } }
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

function callDelta({ index, first, args }: CallAdvance) {
  if (first === undefined) return { index, function: { arguments: args } }
  return { index, id: first.id, type: 'function', function: { name: first.name, arguments: args } }
}

/** By the old name there is one call: the first. */
function oldDelta(calls: CallAdvance[]) {
  const first = calls.find(({ index }) => index === 0)
  return first === undefined ? {} : { function_call: callDelta(first).function }
}

function head({ run, model }: CompletionOptions) {
  return { id: `chatcmpl-${run._id}`, created: Math.floor(run.created_at.getTime() / 1000), model }
}

function answersOf(view: RunView) {
  return [...view.messages.values()].flatMap(({ content }) =>
    'whole' in content && content.whole.type === 'AIMessage' ? [content.whole.data] : [],
  )
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
