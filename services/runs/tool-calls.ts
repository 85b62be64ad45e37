import type { OnThread, ToolInput, ToolOutcome } from '../../domain/contracts/thread.ts'
import { runStore } from '../stores/runs.ts'
import { type FinishCallDeps, createFinishCall } from './delegation/finish-call.ts'
import { type StartChildRunDeps, createStartChildRun } from './delegation/start-child-run.ts'
import type { StepDeps } from './step-deps.ts'
import { type ToolStepDeps, type ToolStepOptions, publishResult, toolStep } from './tool-step.ts'

export type ToolCalls = ReturnType<typeof createToolCalls>

type ToolCallsDeps = StepDeps &
  Pick<ToolStepDeps, 'storageQuota'> &
  StartChildRunDeps &
  Omit<FinishCallDeps, 'publishResult'>

/** The tool calls of runs, as the workflow of a thread asks a process to make them. */
export function createToolCalls(deps: ToolCallsDeps) {
  const startChildRun = createStartChildRun(deps)
  return {
    callTool: (input: OnThread<ToolInput>, options: ToolStepOptions): Promise<ToolOutcome> =>
      toolStep({ ...deps, startChildRun }, input, options),

    finishCall: createFinishCall({
      ...deps,
      async publishResult(key, call) {
        const run = await runStore(deps.collections).findInThread(key)
        if (run !== null) await publishResult(deps, run, call)
      },
    }),
  }
}
