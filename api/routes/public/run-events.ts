import { addAll } from '../../../domain/add-all.ts'
import { type AnswerChange, type CallSoFar, createAnswerChanges } from '../../../domain/answer-changes.ts'
import { citedFilesOf } from '../../../domain/knowledge/citations.ts'
import type { AIMessage, Message, ToolCall } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { type WrittenFile, codeToolName, writtenAtEnd, writtenBefore } from '../../../domain/responses/written-files.ts'
import { type FoldedMessage, type RunView, toMessage, wholeMessagesOf } from '../../../domain/run-events.ts'
import type { v1RunStates } from '../v1/run-schemas.ts'
import { callDelta, outputsDelta, outputsOfCode } from './code-deltas.ts'
import { incompleteReasonOf, toCompatMessage, secondsOf } from './compat-objects.ts'
import { messageStep, outputsOf, stepCalls, toolStep, toolStepId } from './run-steps.ts'
import type { CompatMessage, CompatRunStep } from './thread-schemas.ts'

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
  writtenFiles?(message: CompatMessage, written: WrittenFile[]): object & { content: object[] }
}

/**
 * Converts a run into the events of the assistants API. At most one step is open at a time, as its clients require:
 * a message's step while the message is written, then the step of its tool calls.
 */
export function createRunEvents(
  run: RunRecord,
  { shapeOf, isWhole = false, writtenFiles }: RunEventsOptions,
  now: () => Date,
) {
  /** How often the model has called tools in a message. */
  const attempts = new Map<string, number>()
  const closed = new Set<string>()
  const { changes, received } = createAnswerChanges({
    ...(isWhole ? { isShown: () => true } : {}),
    areCanonical: true,
    isClosed: (id) => closed.has(id),
  })
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
      shown = wholeMessagesOf(view)
      for (const change of changes(view)) {
        const isBroken = change.type === 'begins again' && (change.what === 'text' || change.what === 'refusal')
        if (isBroken || !isContinued(change)) return { events, contradicted: true }
        addAll(events, eventsOf(change, messages))
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

  function eventsOf(change: AnswerChange, messages: FoldedMessage[]): RunEvent[] {
    const { folded } = change
    switch (change.type) {
      case 'text':
      case 'refusal':
        return said(folded.id, change)
      case 'call':
        return called(folded.id, change)
      case 'begins again':
        return change.what === 'calls' ? withdrawn(folded.id) : []
      case 'message': {
        // The result of a call may close the step of its answer.
        const answer = messages.findLastIndex((each, index) => index <= messages.indexOf(folded) && isAnswer(each))
        return answer < 0 ? [] : finished(messages[answer], messages.slice(answer + 1))
      }
      default:
        return []
    }
  }

  function said(id: string, { type, delta }: { type: 'text' | 'refusal'; delta: string }): RunEvent[] {
    const events = open?.id === id ? [] : openMessage(id)
    if (type === 'text') return [...events, textEvent(id, delta, events.length > 0)]
    const index = received(id).text === '' ? 0 : 1
    return [...events, messageDelta(id, { index, type, refusal: delta })]
  }

  function openMessage(id: string): RunEvent[] {
    const at = now()
    const messageSoFar = () => {
      const { text: content, refusal } = received(id)
      return messageOf(
        run,
        { id, content, refusal: refusal || undefined, at },
        content === '' ? [] : citedFilesIn(shown, run._id),
      )
    }
    const before = closeOpen('completed')
    open = {
      id,
      close(how) {
        closed.add(id)
        const written = writtenFiles === undefined ? [] : (writtenBefore(shown).get(id) ?? writtenAtEnd(shown))
        const whole = messageSoFar()
        const withFiles = writtenFiles?.(whole, written) ?? whole
        return [
          ...withFiles.content
            .slice(whole.content.length)
            .map((part, index) => messageDelta(id, { index: whole.content.length + index, ...part })),
          ...endOfMessage(run, { ...whole, ...withFiles } as CompatMessage, { how, cut: cutOf(id), end: now() }),
        ]
      },
    }
    return [...before, ...beginningOfMessage(run, messageOf(run, { id, content: '', at }, []), at)]
  }

  /** A whole message closes its step and opens that of its tool calls, which is closed when all have results. */
  function finished(folded: FoldedMessage | undefined, following: FoldedMessage[]): RunEvent[] {
    if (folded === undefined || !('whole' in folded.content) || folded.content.whole.type !== 'AIMessage') return []
    const { id, tool_calls: calls = [], incomplete } = folded.content.whole.data
    if (incomplete) return []
    const events = open?.id === id ? closeOpen('completed') : []
    const toolsId = `${id}/tools`
    if (calls.length === 0 || closed.has(toolsId)) return events
    const outputs = outputsOf(following.map(toMessage))
    const at = now()
    if (!isWhole && open?.id !== toolsId)
      addAll(events, [
        ...closeOpen('completed'),
        ...opened(toolStep(run, { id, calls: stepCalls(calls) }, new Map(), 'in_progress', at)),
      ])
    openTools(id, () => stepCalls(calls), outputs)
    if (calls.every((call) => outputs.has(call.id))) {
      if (isWhole) addAll(events, executed(id, calls, following.map(toMessage)))
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
  function withdrawn(id: string): RunEvent[] {
    const toolsId = `${id}/tools`
    if (open?.id !== toolsId) return []
    const [event] = closeOpen('failed')
    closed.delete(toolsId)
    attempts.set(id, attemptOf(id) + 1)
    return event === undefined ? [] : [{ ...event, data: { ...event.data, last_error: begunAnew } }]
  }

  /** A new part of a call. The first ends what the message says. */
  function called(id: string, { index, call, isFirst, delta }: Extract<AnswerChange, { type: 'call' }>): RunEvent[] {
    const toolsId = `${id}/tools`
    if (closed.has(toolsId)) return []
    const events: RunEvent[] = []
    if (open?.id !== toolsId) {
      addAll(events, [
        ...closeOpen('completed'),
        ...opened(toolStep(run, { id, calls: [], attempt: attemptOf(id) }, new Map(), 'in_progress', now())),
      ])
      openTools(id, () => received(id).calls, new Map())
    }
    const stepId = toolStepId(id, attemptOf(id))
    if (isFirst) addAll(events, stepDelta(stepId, callDelta({ index, call })))
    if (delta !== '') addAll(events, stepDelta(stepId, callDelta({ index, call, more: delta })))
    return events
  }

  function attemptOf(messageId: string): number {
    return attempts.get(messageId) ?? 1
  }

  function openTools(id: string, calls: () => readonly CallSoFar[], outputs: Map<string, string>): void {
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
  function isContinued({ type, folded: { id, content } }: AnswerChange): boolean {
    const { text: sent, calls: sentCalls } = received(id)
    if (type === 'begins again' || (!closed.has(id) && sentCalls.length === 0)) return true
    if (!('whole' in content) || content.whole.type !== 'AIMessage') return true
    const { content: text, tool_calls: calls = [], incomplete } = content.whole.data
    return text.startsWith(sent) && (text === sent || calls.length > 0 || incomplete === true)
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

const isAnswer = ({ content }: FoldedMessage): boolean => 'whole' in content && content.whole.type === 'AIMessage'

function citedFilesIn(messages: Message[], runId: string) {
  const logged = messages.map((message) => ({ message, runId }))
  return citedFilesOf(new Set([runId]), logged).get(runId)
}

function messageOf(
  run: RunRecord,
  { id, content, refusal, at }: { id: string; content: string; refusal?: string | undefined; at: Date },
  cited: Parameters<typeof toCompatMessage>[2],
): CompatMessage {
  return toCompatMessage(
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
