import type { Histogram } from 'prom-client'
import type { Tracing } from '../../services/tracing.ts'
import { isListedModel } from '../model/known-models.ts'
import { type Metrics, secondsSince } from './create-metrics.ts'

type RunMetrics = Pick<
  Metrics,
  'runsEnded' | 'runSeconds' | 'runWaitSeconds' | 'modelSeconds' | 'modelTokens' | 'toolSeconds'
>

/** Wraps `tracing`, which all runs use, to measure runs, model answers and tool calls. */
export function observeRuns<T extends Tracing>(
  tracing: T,
  metrics: RunMetrics,
  isServed: (model: string) => boolean,
): T {
  // Users may name any model: unknown models are counted together.
  const labelOf = (model: string) => (isServed(model) || isListedModel(model) ? model : 'other')

  return {
    ...tracing,

    async chat(run, facts, ask, resultOf) {
      // Counted for the model that answered, which after a failure is not the one that was asked first.
      const labels = { model: labelOf(facts.model) }
      const answer = await timed(metrics.modelSeconds, labels, async () => {
        const answered = await tracing.chat(run, facts, ask, resultOf)
        labels.model = labelOf(resultOf(answered).model)
        return answered
      })
      const { usage } = resultOf(answer)
      const { model } = labels
      if (usage) {
        metrics.modelTokens.inc({ model, kind: 'prompt' }, usage.prompt_tokens)
        metrics.modelTokens.inc({ model, kind: 'completion' }, usage.completion_tokens)
      }
      return answer
    },

    tool: (run, facts, execute) =>
      timed(metrics.toolSeconds, { type: facts.type }, () => tracing.tool(run, facts, execute)),

    // Not by the record: a run that waits for nothing of its thread is stored as one that has started.
    begun(run) {
      tracing.begun(run)
      metrics.runWaitSeconds.observe(secondsBetween(run.created_at, new Date()))
    },

    ended(run) {
      tracing.ended(run)
      const { status, created_at, finished_at = new Date() } = run
      metrics.runsEnded.inc({ status })
      metrics.runSeconds.observe({ status }, secondsBetween(created_at, finished_at))
    },
  }
}

/** Measures how long `work` took and whether it succeeded. */
export async function timed<L extends string, T>(
  histogram: Pick<Histogram<L | 'outcome'>, 'observe'>,
  labels: Record<L, string>,
  work: () => Promise<T>,
): Promise<T> {
  const start = performance.now()
  let outcome = 'failed'
  try {
    const result = await work()
    outcome = 'ok'
    return result
  } finally {
    histogram.observe({ ...labels, outcome }, secondsSince(start))
  }
}

/** The clocks of processes differ: the difference may be below zero. */
function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, to.getTime() - from.getTime()) / 1000
}
