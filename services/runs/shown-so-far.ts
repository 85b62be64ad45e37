import { type RunView, applyEntries, emptyView } from '../../domain/run-events.ts'
import type { StepDeps } from './step-deps.ts'

/** What readers have received of a run; nothing if its stream cannot be read. */
export async function shownSoFar(
  { stream, onError }: Pick<StepDeps, 'stream' | 'onError'>,
  runId: string,
): Promise<RunView> {
  const view = emptyView()
  try {
    for (const { id, entries } of await stream.read(runId)) applyEntries(view, id, entries)
  } catch (error) {
    onError(error)
  }
  return view
}
