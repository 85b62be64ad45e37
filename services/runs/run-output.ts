import { answerBytes } from '../../domain/answer-budget.ts'
import { createMessageWindow } from '../../domain/message-window.ts'
import type { Message } from '../../domain/messages.ts'
import { type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { ScanLog } from '../threads/log-scan.ts'

export interface RunOutput {
  /** In order; if they do not fit into one answer, the newest. */
  messages: Message[]
  /** How many older ones were left out. */
  omitted: number
}

export type ReadRunOutput = ReturnType<typeof createRunOutput>

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
