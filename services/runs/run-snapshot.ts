import { answerBytes } from '../../domain/answer-budget.ts'
import { createMessageWindow } from '../../domain/conversation.ts'
import { type EventId, eventIdOf, goneEntryId, laterId, zeroId } from '../../domain/ids.ts'
import type { Message } from '../../domain/messages.ts'
import { type RunKey, type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { FoldedMessage, RunView, Terminal } from '../../domain/run-events.ts'
import type { Collections } from '../collections.ts'
import { runStore } from '../stores/runs.ts'
import type { ScanLog } from '../threads/log-scan.ts'

interface RunOutput {
  /** In order; if they do not fit into one answer, the newest. */
  messages: Message[]
  /** How many older ones were left out. */
  omitted: number
}

type ReadRunOutput = ReturnType<typeof createRunOutput>

/** Reads the messages that a run has added to its thread, without its input. `before` is the id of one of them. */
export function createRunOutput(scan: ScanLog) {
  return async (
    run: Pick<RunRecord, '_id' | 'thread_id' | 'user_id'> & Partial<Pick<RunRecord, 'status'>>,
    before?: string,
  ): Promise<RunOutput> => {
    const window = createMessageWindow(answerBytes, { before })
    const filter = { thread_id: run.thread_id, run_id: run._id, source: { $ne: 'input' as const } }
    const hasEnded = run.status !== undefined && !isOpenRun({ status: run.status })
    await scan({ filter, userId: run.user_id, hasEnded }, (_entry, messages) => {
      for (const { message, bytes } of messages) window.add(message, bytes)
    })
    return { messages: window.messages(), omitted: window.omitted() }
  }
}

/** A run as the database has it: for readers whose stream has expired, and for the state of a run. */
export interface RunSnapshot {
  /** The messages of the run so far, without its input, in order; of a very long run the newest. */
  messages: Message[]
  terminal: Terminal | undefined
  /**
   * A reader who has received an event with this id, or a later one, has all messages. Set for runs that wait or
   * have ended.
   */
  lastDataEventId: EventId | undefined
}

/** Reads `RunSnapshot`s; undefined for a run that is gone. */
export function createRunSnapshots(collections: Pick<Collections, 'runs'>, readOutput: ReadRunOutput) {
  return async (key: RunKey): Promise<RunSnapshot | undefined> => {
    const run = await runStore(collections).findInThread(key)
    if (run === null) return undefined
    return {
      messages: (await readOutput(run)).messages,
      terminal: terminalOf(run),
      lastDataEventId: run.last_data_event_id,
    }
  }
}

/** How a run's stream ends, or undefined while the run is open. */
function terminalOf(run: Pick<RunRecord, 'status' | 'error'>): Terminal | undefined {
  switch (run.status) {
    case 'pending':
    case 'running':
      return undefined
    case 'interrupted':
      return { type: 'interrupted' }
    case 'success':
      return { type: 'end' }
    case 'error':
    case 'cancelled':
      return {
        type: 'error',
        error: run.error ?? { status_code: 500, message: 'The run failed.', type: 'internal_error', details: '' },
      }
  }
}

/**
 * Adds from the database what the stream no longer contains, or never received because Redis was away: the stored
 * messages of a run whose beginning is missing, and the end of a run that has ended.
 */
export function completeView(view: RunView, stored: RunSnapshot): void {
  const ended = stored.terminal !== undefined && view.terminal === undefined
  if (view.complete && !ended) return
  const at = eventIdOf(laterId(view.lastId, goneEntryId), ended ? 'final' : 'completed')
  view.at = ended && view.lastId === zeroId ? (stored.lastDataEventId ?? at) : at
  const messages = new Map<string, FoldedMessage>()
  for (const whole of stored.messages) {
    const id = whole.data.id
    const known = view.messages.get(id)
    const same =
      known !== undefined && 'whole' in known.content && JSON.stringify(known.content.whole) === JSON.stringify(whole)
    messages.set(id, same ? known : { id, changedAt: view.at, content: { whole } })
  }
  // In an open run, a message that is not stored is still being written. In an ended run, only stored messages count.
  if (!ended) for (const [id, known] of view.messages) if (!messages.has(id)) messages.set(id, known)
  view.messages = messages
  view.complete = true
  if (ended) {
    view.terminal = stored.terminal
    view.restored = stored.lastDataEventId !== undefined
  }
}
