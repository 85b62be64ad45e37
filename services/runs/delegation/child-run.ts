import { derivedId } from '../../../domain/ids.ts'
import type { ChildRunKey } from '../../../domain/records/tool-call.ts'

/**
 * The run in which another assistant answers a call, and its thread. They follow from the call, so that a call that is
 * executed again finds the run that it has started, and readers know the run before it begins.
 */
export function childRunOf(callKey: string): Omit<ChildRunKey, 'assistant_id'> {
  const parentRunId = callKey.split('/')[0] ?? ''
  return {
    run_id: derivedId(['asked-run', callKey], parentRunId),
    thread_id: derivedId(['asked-thread', callKey], parentRunId),
  }
}
