import { cutText } from '../../domain/cut-text.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import type { ToolProblem } from '../tools/resolve-tools.ts'
import { executedRunStore } from './store.ts'

const maxWarnings = 20
const maxLength = 300

export type LeftOutRun = Pick<RunRecord, '_id' | 'thread_id' | 'warnings'>

/**
 * Stores with a run which tools of its assistant were left out, and why, for the owner. The model answers without them, so
 * nobody would know otherwise. The reasons hold no secrets (`ToolProblem`).
 */
export async function noteLeftOut(
  collections: Pick<Collections, 'runs'>,
  run: LeftOutRun,
  problems: ToolProblem[],
): Promise<void> {
  const warnings = problems
    .slice(0, maxWarnings)
    .map(({ type, name, problem }) => cutText(`${name === type ? type : `${type} ${name}`}: ${problem}`, maxLength))
    .filter((warning) => run.warnings?.includes(warning) !== true)
  if (warnings.length === 0 || (run.warnings?.length ?? 0) >= maxWarnings) return
  await executedRunStore(collections).addWarnings(run, warnings)
  run.warnings = [...(run.warnings ?? []), ...warnings]
}
