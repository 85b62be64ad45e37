import { addAll } from '../../../domain/add-all.ts'
import { citedFilesOf } from '../../../domain/knowledge/citations.ts'
import type { AIMessage, Message, ToolCall } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { type FoldedMessage, type RunView, shownMessage } from '../../../domain/run-events.ts'
import { type WrittenFile, codeToolName, writtenAtEnd, writtenBefore } from '../../../domain/responses/written-files.ts'
import { createTextProgress, refusalText } from '../../../domain/text-progress.ts'
import { createCallProgress, shownDelta } from './call-progress.ts'
import { outputsDelta, outputsOfCode } from './code-deltas.ts'
import { type StepCall, messageStep, outputsOf, stepCalls, toolStep, toolStepId } from './run-steps.ts'
import type { v1RunStates } from '../v1/run-schemas.ts'
import type { CompatMessage, CompatRunStep } from './thread-schemas.ts'
import { incompleteReasonOf, messageShape, secondsOf } from './thread-shapes.ts'

/** One event of a streamed run, named as in the OpenAI assistants API. */
export interface RunEvent {
  name: RunEventName
  data: object
}

export const stepStates = ['created', 'in_progress', 'completed', 'failed', 'cancelled', 'expired'] as const
export const messageStates = ['created', 'in_progress', 'completed', 'incomplete'] as const
type RunState = (typeof v1RunStates)[number]

/** The API description is made of the same lists. */
type RunEventName =
  | 'thread.created'
  | `thread.run.${'created' | RunState}`
  | `thread.run.step.${(typeof stepStates)[number] | 'delta'}`
  | `thread.message.${(typeof messageStates)[number] | 'delta'}`

type How = 'completed' | 'failed' | 'cancelled' | 'expired'

/** A step that has been announced and not closed yet; for a message, with what its closing needs. */
interface OpenStep {
  id: string
  close(how: How): RunEvent[]
}

/** How an API shows a run. */
export interface RunEventsOptions {
  shapeOf(run: RunRecord): { status: RunState }
  /** As the assistants API does: a step's calls come in pieces, and a run says that it is about to be cancelled. */
  isWhole?: boolean
  /** An answer with the files that code has written for it. */
  showWritten?(message: CompatMessage, written: WrittenFile[]): object & { content: object[] }
}

/**
 * Converts a run into the events of the assistants API. At most one step is open at a time, as its clients require:
 * a message's step while the message is written, then the step of its tool calls.
 */
export function createRunEvents(
  run: RunRecord,
  { shapeOf, isWhole = false, showWritten }: RunEventsOptions,
  now: () => Date,
) {
  const progress = createTextProgress()
  const refusals = createTextProgress(refusalText)
  const calling = createCallProgress()
  /** How often the model has called tools in a message. */
  const attempts = new Map<string, number>()
  const closed = new Set<string>()
  /** The whole messages of the run so far. */
  let shown: Message[] = []
  let open: OpenStep | undefined
  let begun = false

  return {
    begin: (): RunEvent[] =>
      (['created', 'queued'] as const).map((state) => ({ name: `thread.run.${state}`, data: shapeOf(run) })),

    /** The new events of `view`. `contradicted`: the state contradicts what was sent. */
    advance(view: RunView): { events: RunEvent[]; contradicted: boolean } {
      const events: RunEvent[] = []
      if (view.complete || view.messages.size > 0) addAll(events, started())
      const messages = [...view.messages.values()]
      shown = messages.flatMap(({ content }) => ('whole' in content ? [content.whole] : []))
      for (const [index, folded] of messages.entries()) {
        addAll(events, withdrawn(folded))
        if (closed.has(folded.id) || calling.sent(folded.id).length > 0) {
          if (!isContinued(folded)) return { events, contradicted: true }
        } else {
          const text = progress.advance(folded)
          const refusal = refusals.advance(folded)
          if (text.contradicted || refusal.contradicted) return { events, contradicted: true }
          if (text.delta !== '') addAll(events, said(folded.id, text.delta))
          if (refusal.delta !== '') addAll(events, refused(folded.id, refusal.delta))
        }
        if (isWhole && 'pieces' in folded.content) addAll(events, called(folded))
        addAll(events, finished(folded, messages.slice(index + 1)))
      }
      return { events, contradicted: false }
    },

    /** The last events of a run; `stored` is the run's record. */
    end(stored: RunRecord): RunEvent[] {
      const data = shapeOf(stored)
      const before: RunEvent[] =
        isWhole && stored.status === 'cancelled'
          ? [{ name: 'thread.run.cancelling', data: { ...data, status: 'cancelling', cancelled_at: null } }]
          : []
      return [...started(), ...before, ...closeOpen(endOf(stored)), { name: `thread.run.${data.status}`, data }]
    },

    /** What a reader who resumes the run has received before. */
    skip(view: RunView): RunEvent[] {
      this.advance(view)
      begun = false
      return [{ name: 'thread.run.queued', data: shapeOf({ ...run, status: 'pending' }) }, ...started()]
    },

    /** Closes open steps before a stream that cannot continue sends its error. */
    abandon: (): RunEvent[] => closeOpen('failed'),
  }

  function started(): RunEvent[] {
    if (begun) return []
    begun = true
    return [{ name: 'thread.run.in_progress', data: shapeOf({ ...run, status: 'running', started_at: now() }) }]
  }

  function said(messageId: string, delta: string): RunEvent[] {
    const events = open?.id === messageId ? [] : openMessage(messageId)
    return [...events, textEvent(messageId, delta, events.length > 0)]
  }

  function refused(messageId: string, delta: string): RunEvent[] {
    const events = open?.id === messageId ? [] : openMessage(messageId)
    const index = progress.sent(messageId) === '' ? 0 : 1
    return [...events, messageDelta(messageId, { index, type: 'refusal', refusal: delta })]
  }

  function openMessage(id: string): RunEvent[] {
    const at = now()
    const messageSoFar = () => {
      const content = progress.sent(id)
      const refusal = refusals.sent(id) || undefined
      return messageOf(run, { id, content, refusal, at }, content === '' ? [] : citedFilesIn(shown, run._id))
    }
    const before = closeOpen('completed')
    open = {
      id,
      close(how) {
        closed.add(id)
        const written = showWritten === undefined ? [] : (writtenBefore(shown).get(id) ?? writtenAtEnd(shown))
        const whole = messageSoFar()
        const withFiles = showWritten?.(whole, written) ?? whole
        return [
          ...withFiles.content
            .slice(whole.content.length)
            .map((part, place) => messageDelta(id, { index: whole.content.length + place, ...part })),
          ...endOfMessage(run, { ...whole, ...withFiles } as CompatMessage, { how, cut: cutOf(id), end: now() }),
        ]
      },
    }
    return [...before, ...beginningOfMessage(run, messageOf(run, { id, content: '', at }, []), at)]
  }

  /** A whole message closes its step and opens that of its tool calls, which is closed when all have results. */
  function finished(folded: FoldedMessage, following: FoldedMessage[]): RunEvent[] {
    if (!('whole' in folded.content) || folded.content.whole.type !== 'AIMessage') return []
    const { id, tool_calls: calls = [], incomplete } = folded.content.whole.data
    if (incomplete) return []
    const events = open?.id === id ? closeOpen('completed') : []
    const toolsId = `${id}/tools`
    if (calls.length === 0 || closed.has(toolsId)) return events
    const outputs = outputsOf(following.map(shownMessage))
    const at = now()
    if (isWhole) addAll(events, called(folded))
    else if (open?.id !== toolsId)
      addAll(events, [
        ...closeOpen('completed'),
        ...opened(toolStep(run, { id, calls: stepCalls(calls) }, new Map(), 'in_progress', at)),
      ])
    openTools(id, () => stepCalls(calls), outputs)
    if (calls.every((call) => outputs.has(call.id))) {
      if (isWhole) addAll(events, executed(id, calls, following.map(shownMessage)))
      addAll(events, closeOpen('completed'))
    }
    return events
  }

  /** What the executions of code among the calls of a message have given. */
  function executed(id: string, calls: ToolCall[], following: Message[]): RunEvent[] {
    return calls.flatMap((call, index) => {
      if (call.name !== codeToolName) return []
      const result = following.find(
        (message) => message.type === 'ToolMessage' && message.data.tool_call_id === call.id,
      )
      const outputs = outputsOfCode(result?.type === 'ToolMessage' ? result : undefined)
      return stepDelta(toolStepId(id, attemptOf(id)), outputsDelta({ index, id: call.id, outputs }))
    })
  }

  /** The step of calls that a later attempt does not make has failed; the calls that it makes begin another one. */
  function withdrawn(folded: FoldedMessage): RunEvent[] {
    const toolsId = `${folded.id}/tools`
    if (open?.id !== toolsId || isIncomplete(folded) || !calling.isContradicted(folded)) return []
    const [event] = closeOpen('failed')
    closed.delete(toolsId)
    calling.forget(folded.id)
    attempts.set(folded.id, attemptOf(folded.id) + 1)
    return event === undefined ? [] : [{ ...event, data: { ...event.data, last_error: begunAnew } }]
  }

  /** The new parts of the calls of a message. The first ends what the message says. */
  function called(folded: FoldedMessage): RunEvent[] {
    const { id } = folded
    const toolsId = `${id}/tools`
    const events: RunEvent[] = []
    const deltas = calling.advance(folded)
    if (deltas.length === 0) return events
    if (open?.id !== toolsId) {
      addAll(events, [
        ...closeOpen('completed'),
        ...opened(toolStep(run, { id, calls: [], attempt: attemptOf(id) }, new Map(), 'in_progress', now())),
      ])
      openTools(id, () => calling.sent(id), new Map())
    }
    return [...events, ...deltas.flatMap((delta) => stepDelta(toolStepId(id, attemptOf(id)), shownDelta(delta)))]
  }

  function attemptOf(messageId: string): number {
    return attempts.get(messageId) ?? 1
  }

  function openTools(id: string, calls: () => StepCall[], outputs: Map<string, string>): void {
    const toolsId = `${id}/tools`
    open = {
      id: toolsId,
      close(how) {
        closed.add(toolsId)
        return [
          {
            name: `thread.run.step.${how}`,
            data: toolStep(run, { id, calls: calls(), attempt: attemptOf(id) }, outputs, how, now()),
          },
        ]
      },
    }
  }

  /** Text that a model adds after its first call has no event; without a call the answer is another one. */
  function isContinued({ id, content }: FoldedMessage): boolean {
    if (!('whole' in content) || content.whole.type !== 'AIMessage') return true
    const { content: text, tool_calls: calls = [], incomplete } = content.whole.data
    return text.startsWith(progress.sent(id)) && (text === progress.sent(id) || calls.length > 0 || incomplete === true)
  }

  function cutOf(id: string): AIMessage['data']['cut'] {
    const message = shown.find((other) => other.data.id === id)
    return message?.type === 'AIMessage' ? message.data.cut : undefined
  }

  function closeOpen(how: How): RunEvent[] {
    const events = open?.close(how) ?? []
    open = undefined
    return events
  }
}

const begunAnew = { code: 'server_error', message: 'The answer of the model broke off. It begins again.' }

const isIncomplete = ({ content }: FoldedMessage): boolean =>
  'whole' in content && content.whole.type === 'AIMessage' && content.whole.data.incomplete === true

function citedFilesIn(messages: Message[], runId: string) {
  const logged = messages.map((message) => ({ message, runId }))
  return citedFilesOf(new Set([runId]), logged).get(runId)
}

function messageOf(
  run: RunRecord,
  { id, content, refusal, at }: { id: string; content: string; refusal?: string | undefined; at: Date },
  cited: Parameters<typeof messageShape>[2],
): CompatMessage {
  return messageShape(
    {
      message: { type: 'AIMessage', data: { id, content, ...(refusal === undefined ? {} : { refusal }) } },
      createdAt: at,
      runId: run._id,
    },
    { threadId: run.thread_id, assistantId: run.assistant_id },
    cited,
  )
}

function beginningOfMessage(run: RunRecord, message: CompatMessage, at: Date): RunEvent[] {
  const empty: CompatMessage = { ...message, status: 'in_progress', completed_at: null, content: [] }
  return [
    ...opened(messageStep(run, message.id, 'in_progress', at)),
    { name: 'thread.message.created', data: empty },
    { name: 'thread.message.in_progress', data: empty },
  ]
}

/** The first text also begins the content, with its list of annotations. */
function textEvent(messageId: string, delta: string, isFirst: boolean): RunEvent {
  const text = isFirst ? { value: delta, annotations: [] } : { value: delta }
  return messageDelta(messageId, { index: 0, type: 'text', text })
}

function messageDelta(id: string, part: object): RunEvent {
  return { name: 'thread.message.delta', data: { id, object: 'thread.message.delta', delta: { content: [part] } } }
}

function endOf({ status, error }: RunRecord): How {
  if (status === 'cancelled') return 'cancelled'
  if (status !== 'error') return 'completed'
  return error?.type === 'expired' ? 'expired' : 'failed'
}

function endOfMessage(
  run: RunRecord,
  message: CompatMessage,
  { how, cut, end }: { how: How; cut: AIMessage['data']['cut']; end: Date },
): RunEvent[] {
  const broken: CompatMessage = {
    ...message,
    status: 'incomplete',
    completed_at: null,
    incomplete_at: secondsOf(end),
    incomplete_details: { reason: how === 'completed' ? incompleteReasonOf(cut) : `run_${how}` },
  }
  return [
    how === 'completed' && cut === undefined
      ? { name: 'thread.message.completed', data: { ...message, completed_at: secondsOf(end) } }
      : { name: 'thread.message.incomplete', data: broken },
    { name: `thread.run.step.${how}`, data: messageStep(run, message.id, how, end) },
  ]
}

function stepDelta(id: string, call: object | undefined): RunEvent[] {
  if (call === undefined) return []
  const delta = { step_details: { type: 'tool_calls', tool_calls: [call] } }
  return [{ name: 'thread.run.step.delta', data: { id, object: 'thread.run.step.delta', delta } }]
}

function opened(step: CompatRunStep): RunEvent[] {
  return [
    { name: 'thread.run.step.created', data: step },
    { name: 'thread.run.step.in_progress', data: step },
  ]
}
