import type { AskedRun } from '../../../domain/records/tool-call.ts'
import { derivedId } from '../../../domain/derived-id.ts'

/**
 * The run in which another assistant answers a call, and its thread. They follow from the call, so that a call that is
 * executed again finds the run that it has started, and readers know the run before it begins.
 */
export function askedRunOf(callKey: string): Omit<AskedRun, 'assistant_id'> {
  const asker = callKey.split('/')[0] ?? ''
  return {
    run_id: derivedId(['asked-run', callKey], asker),
    thread_id: derivedId(['asked-thread', callKey], asker),
  }
}
