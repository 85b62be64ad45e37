import type { OnThread, ToolInput, ToolOutcome } from '../../domain/contracts/thread.ts'
import { type RunRecord, runKey } from '../../domain/records/run.ts'
import { type FinishCallDeps, createFinishCall } from './asking/finish-call.ts'
import { type StartAskedRunDeps, createStartAskedRun } from './asking/start-asked-run.ts'
import type { StepDeps } from './step-deps.ts'
import { type ToolStepOptions, showResult, toolStep } from './tool-step.ts'

export type ToolCalls = ReturnType<typeof createToolCalls>

type ToolCallsDeps = StepDeps & StartAskedRunDeps & Omit<FinishCallDeps, 'showResult'>

/** The tool calls of runs, as the workflow of a thread asks a process to make them. */
export function createToolCalls(deps: ToolCallsDeps) {
  const startAskedRun = createStartAskedRun(deps)
  return {
    callTool: (input: OnThread<ToolInput>, options: ToolStepOptions): Promise<ToolOutcome> =>
      toolStep({ ...deps, startAskedRun }, input, options),

    finishCall: createFinishCall({
      ...deps,
      async showResult(key, call) {
        const run = await deps.collections.runs.findOne(runKey(key)).lean<RunRecord>()
        if (run !== null) await showResult(deps, run, call)
      },
    }),
  }
}
