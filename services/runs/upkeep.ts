import { type DecisionDeps, createDecisions } from './decisions.ts'
import { type HandOverDeps, createHandOver } from './hand-over.ts'
import { finalizeLostRun } from './finalize.ts'
import type { StepDeps } from './step-deps.ts'
import { type RunSweepDeps, createRunSweep } from './sweep.ts'

type UpkeepDeps = StepDeps & HandOverDeps & DecisionDeps & Pick<RunSweepDeps, 'workflows'>

/** What a worker of the queue `runs` does beside the steps. */
export function createRunUpkeep(deps: UpkeepDeps) {
  const { liveRuns, conversations, stream } = deps
  return {
    /** One round of the sweep of open runs. */
    sweep: createRunSweep({
      ...deps,
      handOver: createHandOver(deps),
      decisions: createDecisions(deps),
      settle: (run, error) => finalizeLostRun(deps, run, error),
    }),

    /** Learns which runs were ended or taken over, until the returned function is called. */
    subscribeSuperseded: () => stream.onSuperseded(liveRuns.supersede),

    /** Learns which threads are being deleted, until the returned function is called. */
    subscribeForgotten: () =>
      stream.onForgotten((threadIds) => {
        liveRuns.forgetThreads(threadIds)
        conversations.forget(threadIds)
      }),
  }
}
