import { citedFilesOf } from '../../../domain/knowledge/citations.ts'
import type { Message } from '../../../domain/messages.ts'
import type { RunRecord } from '../../../domain/records/run.ts'
import { type FoldedMessage, type RunView, shownMessage } from '../../../domain/run-events.ts'
import { createTextProgress } from '../../../domain/text-progress.ts'
import { messageStep, outputsOf, toolStep } from './run-steps.ts'
import type { CompatMessage, CompatRunStep } from './thread-schemas.ts'
import { incompleteReasonOf, messageShape, secondsOf } from './thread-shapes.ts'

/** One event of a streamed run, named as in the OpenAI assistants API. */
export interface RunEvent {
  name: string
  data: object
}

/** A step that has been announced and not closed yet; for a message, with what its closing needs. */
interface OpenStep {
  id: string
  close(how: How): RunEvent[]
}

type How = 'completed' | 'failed' | 'cancelled' | 'expired'

/** How an API shows a run. */
export interface RunEventsOptions {
  shapeOf(run: RunRecord): { status: string }
  /** Whether a step announces its calls as deltas, as the assistants API does. */
  withStepDeltas?: boolean
  /** How the API shows a step, if not as it is. */
  stepShapeOf?(step: CompatRunStep): ShownStep
}

interface ShownStep {
  id: string
  step_details: { type: 'message_creation' } | { type: 'tool_calls'; tool_calls: object[] }
}

/**
 * Converts a run into the events of the assistants API. At most one step is open at a time, as its clients require:
 * a message's step while the message is written, then the step of its tool calls.
 */
export function createRunEvents(
  run: RunRecord,
  { shapeOf, withStepDeltas = false, stepShapeOf = (step) => step }: RunEventsOptions,
  now: () => Date,
) {
  const progress = createTextProgress()
  const closed = new Set<string>()
  /** The whole messages of the run so far. */
  let shown: Message[] = []
  let open: OpenStep | undefined
  let begun = false

  return {
    begin: (): RunEvent[] => [
      { name: 'thread.run.created', data: shapeOf(run) },
      { name: 'thread.run.queued', data: shapeOf(run) },
    ],

    /** The new events of `view`. `contradicted`: the state contradicts what was sent. */
    advance(view: RunView): { events: RunEvent[]; contradicted: boolean } {
      const events: RunEvent[] = []
      if (view.complete || view.messages.size > 0) events.push(...started())
      const messages = [...view.messages.values()]
      shown = messages.flatMap(({ content }) => ('whole' in content ? [content.whole] : []))
      for (const [index, folded] of messages.entries()) {
        const { delta, contradicted } = progress.advance(folded)
        if (contradicted) return { events, contradicted }
        if (delta !== '') events.push(...said(folded.id, delta))
        events.push(...finished(folded, messages.slice(index + 1)))
      }
      return { events, contradicted: false }
    },

    /** The last events of a run; `stored` is the run's record. */
    end(stored: RunRecord): RunEvent[] {
      const data = shapeOf(stored)
      const isExpired = stored.error?.type === 'expired'
      const failed = stored.status === 'error' ? (isExpired ? 'expired' : 'failed') : 'completed'
      const how = stored.status === 'cancelled' ? 'cancelled' : failed
      return [...started(), ...closeOpen(how), { name: `thread.run.${data.status}`, data }]
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
    const first = events.length > 0
    const text = first ? { value: delta, annotations: [] } : { value: delta }
    const content = [{ index: 0, type: 'text', text }]
    events.push({
      name: 'thread.message.delta',
      data: { id: messageId, object: 'thread.message.delta', delta: { content } },
    })
    return events
  }

  function openMessage(id: string): RunEvent[] {
    const at = now()
    const empty: CompatMessage = { ...messageOf(id, '', at), status: 'in_progress', completed_at: null, content: [] }
    const before = closeOpen('completed')
    open = {
      id,
      close(how) {
        closed.add(id)
        const end = now()
        const whole = { ...messageOf(id, progress.sent(id), at), completed_at: secondsOf(end) }
        const cut = cutOf(id)
        const broken: CompatMessage = {
          ...whole,
          status: 'incomplete',
          completed_at: null,
          incomplete_at: secondsOf(end),
          incomplete_details: { reason: how === 'completed' ? incompleteReasonOf(cut) : `run_${how}` },
        }
        return [
          how === 'completed' && cut === undefined
            ? { name: 'thread.message.completed', data: whole }
            : { name: 'thread.message.incomplete', data: broken },
          { name: `thread.run.step.${how}`, data: stepShapeOf(messageStep(run, id, how, end)) },
        ]
      },
    }
    return [
      ...before,
      ...opened(stepShapeOf(messageStep(run, id, 'in_progress', at))),
      { name: 'thread.message.created', data: empty },
      { name: 'thread.message.in_progress', data: empty },
    ]
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
    if (open?.id !== toolsId) {
      events.push(...closeOpen('completed'), ...openedTools(toolStep(run, { id, calls }, new Map(), 'in_progress', at)))
      open = {
        id: toolsId,
        close(how) {
          closed.add(toolsId)
          return [
            { name: `thread.run.step.${how}`, data: stepShapeOf(toolStep(run, { id, calls }, outputs, how, now())) },
          ]
        },
      }
    }
    if (calls.every((call) => outputs.has(call.id))) {
      closed.add(toolsId)
      open = undefined
      events.push({
        name: 'thread.run.step.completed',
        data: stepShapeOf(toolStep(run, { id, calls }, outputs, 'completed', at)),
      })
    }
    return events
  }

  function cutOf(id: string) {
    const message = shown.find((other) => other.data.id === id)
    return message?.type === 'AIMessage' ? message.data.cut : undefined
  }

  /** With deltas, a step begins without calls: each is then added as a whole. */
  function openedTools(given: CompatRunStep): RunEvent[] {
    const step = stepShapeOf(given)
    const { step_details: details, id } = step
    if (!withStepDeltas || details.type !== 'tool_calls') return opened(step)
    const tool_calls = details.tool_calls.map((call, index) => ({ index, ...call }))
    return [
      ...opened({ ...step, step_details: { type: 'tool_calls', tool_calls: [] } }),
      {
        name: 'thread.run.step.delta',
        data: { id, object: 'thread.run.step.delta', delta: { step_details: { type: 'tool_calls', tool_calls } } },
      },
    ]
  }

  function closeOpen(how: How): RunEvent[] {
    const events = open?.close(how) ?? []
    open = undefined
    return events
  }

  function citedFiles() {
    const logged = shown.map((message) => ({ message, runId: run._id }))
    return citedFilesOf(new Set([run._id]), logged).get(run._id)
  }

  function messageOf(id: string, content: string, createdAt: Date): CompatMessage {
    return messageShape(
      { message: { type: 'AIMessage', data: { id, content } }, createdAt, runId: run._id },
      { threadId: run.thread_id, assistantId: run.assistant_id },
      content === '' ? [] : citedFiles(),
    )
  }
}

function opened(step: ShownStep): RunEvent[] {
  return [
    { name: 'thread.run.step.created', data: step },
    { name: 'thread.run.step.in_progress', data: step },
  ]
}
