import { addAll } from '../../domain/add-all.ts'
import { type EntryId, compareIds } from '../../domain/ids.ts'
import type { AIMessage, CutReason, TokenLogprob, ToolCall } from '../../domain/messages.ts'
import { readJsonObject, readJsonString, readPartialObject } from '../../domain/partial-json.ts'
import type { Usage } from '../../domain/records/run.ts'
import { type RunEntry, type SentPrompt, inOrder } from '../../domain/run-events.ts'
import { sumUsage } from '../budgets/usage.ts'
import type { AnswerDelta, ProviderMetadata } from './chat-model.ts'
import type { LiveRun } from './live-runs.ts'
import type { StepDeps } from './step-deps.ts'

/** The id of a step's answer, made from run and step, so that a second attempt uses the same id. */
export function answerIdOf(runId: string, step: number): string {
  return `${runId}-${step}`
}

export type Answer = ReturnType<typeof createAnswer>

/**
 * A model's answer as it arrives: takes deltas, produces stream entries, and at the end the whole message. `now` is for
 * tests.
 */
export function createAnswer(id: string, now: () => number = Date.now) {
  let text = ''
  let reasoning = ''
  let refusal = ''
  let usage: Usage | undefined
  let cut: CutReason | undefined
  let metadata: ProviderMetadata | undefined
  const logprobs: TokenLogprob[] = []
  /** When the model was first seen to think, and when it was last. */
  let thought: { from: number; to: number } | undefined
  let begin: RunEntry = { type: 'begin', id }
  const calls = createAnswerCalls(id)

  return {
    id,
    add(delta: AnswerDelta): RunEntry[] {
      switch (delta.type) {
        case 'text':
          text += delta.text
          return [{ type: 'text', id, text: delta.text }]
        case 'reasoning':
          reasoning += delta.text
          thought = { from: thought?.from ?? now(), to: now() }
          return [{ type: 'reasoning', id, text: delta.text }]
        case 'restart':
          text = delta.text
          reasoning = delta.reasoning
          return [{ type: 'restart', id, reasoning: delta.reasoning, text: delta.text }]
        case 'refusal':
          refusal += delta.text
          return [{ type: 'refusal', id, text: delta.text }]
        case 'usage':
          usage = delta.usage
          return []
        case 'provider':
          metadata = delta.metadata
          return []
        case 'logprobs':
          addAll(logprobs, delta.tokens)
          return [{ type: 'logprobs', id, tokens: delta.tokens }]
        case 'cut':
          cut = delta.reason
          return []
        case 'call':
          return [{ type: 'call', id, ...calls.add(delta) }]
      }
    },

    /** The entry with which the answer begins for readers. */
    begin(sent: SentPrompt): RunEntry {
      begin = { type: 'begin', id, sent }
      return begin
    },

    /** The answer so far, as entries that repeat it from the beginning. */
    entries(): RunEntry[] {
      return [
        begin,
        ...(reasoning === '' ? [] : [{ type: 'reasoning' as const, id, text: reasoning }]),
        ...(text === '' ? [] : [{ type: 'text' as const, id, text }]),
        ...(refusal === '' ? [] : [{ type: 'refusal' as const, id, text: refusal }]),
        ...(logprobs.length === 0 ? [] : [{ type: 'logprobs' as const, id, tokens: logprobs }]),
        ...calls.all().map(([index, call]) => ({
          type: 'call' as const,
          id,
          index,
          call_id: call.id,
          name: call.name,
          args: call.args,
        })),
      ]
    },

    /** `estimate`: its tokens, should the provider not have counted them. */
    message(estimate?: Usage): AIMessage {
      const toolCalls = calls.named().map(toolCallOf)
      const counted = usage ?? estimate
      return {
        type: 'AIMessage',
        data: {
          id,
          content: text,
          ...(toolCalls.length > 0 ? { tool_calls: toolCalls } : {}),
          // Without the name of the model, which an estimate has.
          ...(counted ? { usage: sumUsage([counted]) } : {}),
          ...(cut ? { cut } : {}),
          ...(refusal === '' ? {} : { refusal }),
          ...(reasoning === '' ? {} : { reasoning, ...secondsOf(thought) }),
          ...(logprobs.length > 0 ? { logprobs } : {}),
        },
      }
    },

    /** What the provider must get back unchanged with the message. */
    get metadata() {
      return metadata
    },

    /** Positions in `tool_calls` of calls whose arguments are not a complete JSON object. */
    unreadableCalls: (): Set<number> =>
      new Set(calls.named().flatMap((call, index) => (isUnreadable(call) ? [index] : []))),
  }
}

/** A second at least: less is nothing to tell. */
function secondsOf(thought: { from: number; to: number } | undefined): { reasoning_seconds?: number } {
  const seconds = thought === undefined ? 0 : Math.round((thought.to - thought.from) / 1000)
  return seconds < 1 ? {} : { reasoning_seconds: seconds }
}

export type RunWriter = ReturnType<typeof createRunWriter>

/** Pieces that arrive within this time are published together; readers receive about thirty states a second. */
const mergeMs = 20
/** A whole message is published at this interval, so that a stream whose beginning was trimmed can still be read. */
const snapshotEvery = 500

/**
 * Publishes the entries of one attempt of a step: the first at once, later ones merged while an earlier publication is
 * under way. When Redis did not accept some, the whole answer is published again as soon as it does: a run does not fail
 * because Redis is away. Nothing more is published when the run is dropped, or the stream refuses the attempt's fence.
 */
export function createRunWriter(
  { stream, onError }: Pick<StepDeps, 'stream' | 'onError'>,
  live: LiveRun,
  answer: Answer,
) {
  const { _id: runId, fence } = live.run
  /** `open` goes out before, and together with, the first entries. */
  let pending: RunEntry[] = live.step === 0 ? [{ type: 'open' }] : []
  let flushing: Promise<void> | undefined
  let lastId: EntryId | undefined
  let lost = false
  let published = 0
  let draining = false
  let endPause = () => {}

  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, mergeMs)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })

  async function flush(): Promise<void> {
    let isIncomplete = false
    while ((pending.length > 0 || isIncomplete) && live.state !== 'dropped') {
      published += 1
      const entries =
        lost || isIncomplete || published % snapshotEvery === 0
          ? [...answer.entries(), ...pending.filter(isNotPiece)]
          : pending
      pending = []
      try {
        const done = await stream.publish(runId, fence, mergePieces(entries))
        // A replica that has taken over may not have received the newest entries.
        isIncomplete = done !== null && lastId !== undefined && compareIds(done.before, lastId) < 0
        lastId = done?.id ?? lastId
        lost = false
        if (done === null) live.apply('supersede')
      } catch (error) {
        lost = true
        isIncomplete = false
        onError(error)
      }
      // The first piece of an answer is published at once.
      if (pending.length > 0 && !draining && !entries.every(isNotPiece)) await pause()
    }
  }

  return {
    push(entries: RunEntry[]): void {
      addAll(pending, entries)
      flushing ??= flush().finally(() => {
        flushing = undefined
      })
    },
    /**
     * Publishes the rest without waiting for more. Resolves when everything pushed so far is published, lost or
     * refused.
     */
    async drain(): Promise<void> {
      draining = true
      endPause()
      while (flushing !== undefined) await flushing
      draining = false
    },
    /** The id of this writer's newest entry in the stream. */
    get lastId() {
      return lastId
    },
  }
}

const pieces: ReadonlySet<RunEntry['type']> = new Set([
  'begin',
  'text',
  'reasoning',
  'restart',
  'refusal',
  'call',
  'logprobs',
])

function isNotPiece(entry: RunEntry): boolean {
  return !pieces.has(entry.type)
}

/** Merges neighbouring pieces of one text, or of the arguments of one call. */
function mergePieces(entries: RunEntry[]): RunEntry[] {
  const merged: RunEntry[] = []
  for (const entry of entries) {
    const last = merged.at(-1)
    const both = last && mergedPiece(last, entry)
    if (both === undefined) merged.push(entry)
    else merged[merged.length - 1] = both
  }
  return merged
}

function mergedPiece(a: RunEntry, b: RunEntry): RunEntry | undefined {
  if (a.type === 'text' && b.type === 'text' && a.id === b.id) return { ...a, text: a.text + b.text }
  if (a.type === 'reasoning' && b.type === 'reasoning' && a.id === b.id) return { ...a, text: a.text + b.text }
  if (a.type === 'refusal' && b.type === 'refusal' && a.id === b.id) return { ...a, text: a.text + b.text }
  if (a.type === 'logprobs' && b.type === 'logprobs' && a.id === b.id)
    return { ...a, tokens: [...a.tokens, ...b.tokens] }
  if (a.type === 'call' && b.type === 'call' && a.id === b.id && a.index === b.index)
    return { ...a, ...b, args: (a.args ?? '') + (b.args ?? '') }
  return undefined
}

type CallDelta = Extract<AnswerDelta, { type: 'call' }>

export interface CallSoFar {
  /** Distinct within the answer. */
  id: string
  /** The id that the model gave, if another call has it. */
  modelId?: string
  name: string
  args: string
}

/** The calls of the answer with this id, as they arrive. */
function createAnswerCalls(answerId: string) {
  /** By the numbers that the model gave the calls. */
  const calls = new Map<number, CallSoFar>()

  /** The id that the model gives, unless another call of the answer has it: then results could not be told apart. */
  function nameCall(call: CallSoFar, id: string): void {
    const isTaken = [...calls.values()].some((other) => other !== call && other.id === id)
    if (isTaken) call.modelId = id
    else call.id = id
  }

  return {
    /** Adds a delta to a call; returns what of it is new for readers. */
    add(delta: CallDelta): { index: number; call_id?: string; name?: string; args?: string } {
      const known = calls.get(delta.index)
      const call = known ?? { id: `call_${answerId}_${delta.index}`, name: '', args: '' }
      const before = known && { ...known }
      calls.set(delta.index, call)
      if (delta.id) nameCall(call, delta.id)
      if (delta.name) call.name = delta.name
      call.args += delta.args ?? ''
      return {
        index: delta.index,
        ...(call.id === before?.id ? {} : { call_id: call.id }),
        ...(call.name === before?.name ? {} : { name: call.name }),
        ...(delta.args ? { args: delta.args } : {}),
      }
    },

    /** Each with its number. */
    all: () => [...calls],

    named: () => inOrder(calls).filter((call) => call.name !== ''),
  }
}

/** Whether the arguments are not a complete JSON object: then the call is not made. */
export function isUnreadable(call: CallSoFar): boolean {
  return readJsonObject(argumentsText(call)) === undefined
}

/** If arguments are not a JSON object, what can be parsed is kept; such a call is not executed. */
function toolCallOf(call: CallSoFar): ToolCall {
  const { id, modelId, name } = call
  const args = readPartialObject(argumentsText(call))
  return { id, name, args, type: 'tool_call', ...(modelId === undefined ? {} : { model_id: modelId }) }
}

/** Servers write nothing or `null` for a call without arguments, and some the text of the object as a JSON text. */
function argumentsText({ args }: CallSoFar): string {
  const text = args.trim()
  if (text === '' || text === 'null') return '{}'
  return text.startsWith('"') ? (readJsonString(text) ?? args) : args
}
