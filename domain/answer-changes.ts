import { createCanonicalArguments } from './canonical-arguments.ts'
import { endOfWholeText } from './cut-text.ts'
import type { EventId } from './ids.ts'
import { parseExactJson } from './json.ts'
import type { AIMessage, Message, TokenLogprob } from './messages.ts'
import { type FoldedMessage, type RunView, inOrder } from './run-events.ts'

/** A call of a tool so far; its arguments are JSON text. */
export interface CallSoFar {
  id: string
  name: string
  arguments: string
}

const kinds = ['reasoning', 'text', 'refusal'] as const
type Kind = (typeof kinds)[number]

/** One thing that is new of the answers of a run. */
export type AnswerChange = { folded: FoldedMessage } & (
  | { [K in Kind]: { type: K; delta: string } }[Kind]
  | { type: 'logprobs'; tokens: TokenLogprob[] }
  /** `index`: in its message; `number`: among all calls that the reader receives. */
  | { type: 'call'; index: number; number: number; call: CallSoFar; isFirst: boolean; delta: string }
  /** A message is whole: an answer, or the result of a call. */
  | { type: 'message'; message: Message }
  /** A later attempt contradicts what the reader has received. Of calls, its own follow as new ones. */
  | { type: 'begins again'; what: Kind | 'calls' }
)

interface Options {
  /** Which calls the reader receives; by default none. */
  isShown?: (name: string) => boolean
  /**
   * Arguments have the form in which they are stored, so that all parts together are what the call says afterwards.
   * Otherwise they come as the model writes them.
   */
  areCanonical?: boolean
  /** The reader has closed this answer: what its model adds to its text is not wanted. */
  isClosed?: (messageId: string) => boolean
}

/** What a reader has received of one message. */
interface Received extends Record<Kind, string> {
  changedAt: EventId | undefined
  /** What was withdrawn, and is noted. Later texts that begin like it are not withdrawn. */
  withdrawn: string | undefined
  logprobs: number
  calls: (CallSoFar & { number: number })[]
  argumentsOf: ReturnType<typeof createCanonicalArguments>[]
}

/**
 * What is new of the answers of a run, for one reader who receives only additions. A message that begins again under its
 * id is skipped until it is longer than what was sent.
 */
export function createAnswerChanges({ isShown, areCanonical = false, isClosed = () => false }: Options = {}) {
  const received = new Map<string, Received>()
  let calls = 0

  function receivedOf(id: string): Received {
    const known = received.get(id)
    if (known !== undefined) return known
    const none = { changedAt: undefined, withdrawn: undefined, logprobs: 0, calls: [], argumentsOf: [] }
    const begun = { ...none, text: '', reasoning: '', refusal: '' }
    received.set(id, begun)
    return begun
  }

  /** The changes since the last state, as they are taken. */
  function* changes(view: RunView): Generator<AnswerChange, void, void> {
    for (const folded of view.messages.values()) {
      const known = receivedOf(folded.id)
      if (known.changedAt === folded.changedAt) continue
      known.changedAt = folded.changedAt
      const whole = 'whole' in folded.content ? folded.content.whole : undefined
      if (whole === undefined || whole.type === 'AIMessage') yield* changesOfAnswer(folded, known, whole)
      if (whole !== undefined) yield { type: 'message', folded, message: whole }
    }
  }

  function* changesOfAnswer(
    folded: FoldedMessage,
    known: Received,
    whole: AIMessage | undefined,
  ): Generator<AnswerChange, void, void> {
    const isWhole = whole !== undefined
    // Of an answer that broke off, the calls are not made.
    const now = areCanonical && whole?.data.incomplete ? undefined : callsOf(folded, known)
    if (now !== undefined && contradicts(now, known.calls, isWhole)) {
      yield { type: 'begins again', folded, what: 'calls' }
      known.calls = []
    }
    const isTextOver = isClosed(folded.id) || (areCanonical && known.calls.length > 0)
    const texts = isTextOver ? [] : kinds.flatMap((kind) => added(kind, folded, known) ?? [])
    // Nothing is added to an answer that begins again.
    yield* texts.filter(({ type }) => type === 'begins again')
    yield* texts.filter(({ type }) => type !== 'begins again')
    const logprobs = 'pieces' in folded.content ? folded.content.pieces.logprobs : (whole?.data.logprobs ?? [])
    if (logprobs.length > known.logprobs) yield { type: 'logprobs', folded, tokens: logprobs.slice(known.logprobs) }
    known.logprobs = Math.max(known.logprobs, logprobs.length)
    for (const [index, call] of (now ?? []).entries()) {
      const before = known.calls[index]
      const { number = calls++, arguments: sent = '' } = before ?? {}
      if (!call.arguments.startsWith(sent)) continue
      known.calls[index] = { ...call, number, id: before?.id ?? call.id }
      const delta = call.arguments.slice(sent.length)
      const isFirst = before === undefined
      if (isFirst || delta !== '') yield { type: 'call', folded, index, number, call, isFirst, delta }
    }
  }

  function added(kind: Kind, folded: FoldedMessage, known: Received): AnswerChange | undefined {
    // What was sent stays; the answer follows it.
    if (kind === 'text' && isNewlyWithdrawn(folded, known)) known.text = ''
    const isWhole = 'whole' in folded.content
    const all = textOf(folded, kind)
    const now = isWhole ? all : all.slice(0, endOfWholeText(all))
    const before = known[kind]
    if (now === before) return undefined
    if (!now.startsWith(before))
      return isWhole || !before.startsWith(now) ? { type: 'begins again', folded, what: kind } : undefined
    known[kind] = now
    return { type: kind, folded, delta: now.slice(before.length) }
  }

  /** Of canonical calls, those whose beginning is known, up to the first that is missing. */
  function callsOf({ content }: FoldedMessage, { argumentsOf }: Received): CallSoFar[] {
    if (isShown === undefined) return []
    const written = (
      'pieces' in content
        ? inOrder(content.pieces.calls).map(({ call_id: id, name, args }) => ({ id, name, arguments: args }))
        : callsOfWhole(content, areCanonical)
    ).filter(({ name }) => (areCanonical || name !== '') && isShown(name))
    if (!areCanonical || 'whole' in content) return written
    const missing = written.findIndex(({ id, name }) => id === '' || name === '')
    return (missing < 0 ? written : written.slice(0, missing)).map((call, index) => {
      const reader = (argumentsOf[index] ??= createCanonicalArguments())
      return { ...call, arguments: reader.read(call.arguments).text }
    })
  }

  function contradicts(now: readonly CallSoFar[], sent: readonly CallSoFar[], isWhole: boolean): boolean {
    return sent.some((before, index) => {
      const call = now[index]
      if (call === undefined) return isWhole
      if (call.name !== before.name || (areCanonical && call.id !== before.id)) return true
      if (call.arguments.startsWith(before.arguments)) return false
      if (!isWhole) return !before.arguments.startsWith(call.arguments)
      return areCanonical || !isSameJson(before.arguments, call.arguments)
    })
  }

  return {
    changes,
    /** What the reader has received of a message. */
    received: (messageId: string): Readonly<Pick<Received, Kind | 'calls'>> => receivedOf(messageId),
  }
}

/** The calls of the functions `names` in one message, in their order, as the model wrote them. */
export function writtenCallsOf({ content }: FoldedMessage, names: ReadonlySet<string>): CallSoFar[] {
  return 'pieces' in content ? [] : callsOfWhole(content, false).filter(({ name }) => names.has(name))
}

function callsOfWhole(
  { whole, argumentTexts }: Extract<FoldedMessage['content'], { whole: Message }>,
  areCanonical: boolean,
): CallSoFar[] {
  if (whole.type !== 'AIMessage') return []
  return (whole.data.tool_calls ?? []).map(({ id, name, args }, index) => ({
    id,
    name,
    arguments: (areCanonical ? undefined : argumentTexts?.[index]) || JSON.stringify(args),
  }))
}

function textOf({ content }: FoldedMessage, kind: Kind): string {
  if ('pieces' in content) return content.pieces[kind]
  if (content.whole.type !== 'AIMessage') return ''
  return (kind === 'text' ? content.whole.data.content : content.whole.data[kind]) ?? ''
}

function isNewlyWithdrawn({ withdrawnText }: FoldedMessage, known: Received): boolean {
  if (withdrawnText === undefined) return false
  const isNoted = known.withdrawn === withdrawnText
  known.withdrawn = withdrawnText
  return !isNoted && known.text !== '' && withdrawnText.startsWith(known.text)
}

/** Whether two texts are the same JSON, written in different ways. */
function isSameJson(sent: string, text: string): boolean {
  try {
    // The model's call was bounded when it was read.
    return JSON.stringify(parseExactJson(sent) ?? {}) === text
  } catch {
    return false
  }
}
