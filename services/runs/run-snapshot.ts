import { type Message, messagesFromJson } from '../../domain/messages.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Terminal } from '../../domain/run-events.ts'
import type { Collections } from '../collections.ts'

/** A run as the database knows it: for readers whose stream is gone, and for the state of a run. */
export interface RunSnapshot {
  /** What the run has said so far, its input left out, in order. */
  messages: Message[]
  terminal: Terminal['event'] | undefined
  /** Milliseconds since 1970 of the run's last change. */
  changedAtMs: number
}

/** Reads `RunSnapshot`s; undefined for a run that is gone. */
export function createRunSnapshots(collections: Pick<Collections, 'runs' | 'checkpoints'>) {
  return async (runId: string): Promise<RunSnapshot | undefined> => {
    const run = await collections.runs.findById(runId).lean<RunRecord>()
    if (run === null) return undefined
    return {
      messages: await runOutput(collections, runId),
      terminal: terminalOf(run),
      changedAtMs: (run.finished_at ?? run.started_at ?? run.created_at).getTime(),
    }
  }
}

/** The messages that a run has added to its thread, without its input. */
export async function runOutput({ checkpoints }: Pick<Collections, 'checkpoints'>, runId: string): Promise<Message[]> {
  const entries = await checkpoints
    .find({ run_id: runId, source: { $ne: 'input' } })
    .sort({ seq: 1 })
    .lean()
  const byId = new Map<string, Message>()
  for (const entry of entries)
    for (const message of messagesFromJson(entry.messages_json)) byId.set(message.data.id, message)
  return [...byId.values()]
}

/** How a run's stream ends, or undefined while it goes on. */
export function terminalOf(run: Pick<RunRecord, 'status' | 'error'>): Terminal['event'] | undefined {
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
