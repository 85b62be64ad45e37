import type { Schemas } from '../../../client/src/index.ts'

/** A decision that a person has made about a call; it goes out with the last one of its run. */
export type Held = Omit<Schemas['ResumeRunPayload'], 'tool_call_id'>
type OfRun = ReadonlyMap<string, Held>

/** Runs of which something is kept, at most: the oldest is forgotten. */
const maxRuns = 50
const none: OfRun = new Map()

/** By run and call, while other chats and pages are shown. A page that is loaded anew forgets them: nothing has gone out. */
const kept = new Map<string, OfRun>()

export const heldOf = (runId: string): OfRun => kept.get(runId) ?? none

export function keepHeld(runId: string, decisions: OfRun): void {
  kept.delete(runId)
  if (decisions.size > 0) kept.set(runId, decisions)
  const [oldest] = kept.keys()
  if (kept.size > maxRuns && oldest !== undefined) kept.delete(oldest)
}

/** Whoever logs in next has decided nothing. */
export const forgetHeld = (): void => kept.clear()
