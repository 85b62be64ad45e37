import type { BufferedMetricUpdate } from '@temporalio/worker'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

type Kind = 'counter' | 'gauge' | 'seconds'

/** Tasks wait milliseconds for an idle worker; a wait of seconds means that workers are missing. */
const waitBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300]
/** From a workflow task's milliseconds to an ingestion's half hour. */
const workBuckets = [0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120, 600, 1800]

const of = (kind: Kind, labels: string[], buckets?: number[]) => ({ kind, labels, buckets })

/** The SDK's metrics that are kept, by the SDK's names. The others are not worth their series. */
const kept = {
  temporal_workflow_task_schedule_to_start_latency: of('seconds', ['task_queue'], waitBuckets),
  temporal_activity_schedule_to_start_latency: of('seconds', ['task_queue'], waitBuckets),
  temporal_workflow_task_execution_latency: of('seconds', ['task_queue'], workBuckets),
  temporal_workflow_task_execution_failed: of('counter', ['task_queue', 'failure_reason']),
  temporal_workflow_task_queue_poll_empty: of('counter', ['task_queue']),
  temporal_workflow_endtoend_latency: of('seconds', ['workflow_type'], workBuckets),
  temporal_workflow_completed: of('counter', ['workflow_type']),
  temporal_workflow_failed: of('counter', ['workflow_type']),
  temporal_workflow_canceled: of('counter', ['workflow_type']),
  temporal_workflow_continue_as_new: of('counter', ['workflow_type']),
  temporal_activity_execution_latency: of('seconds', ['activity_type'], workBuckets),
  temporal_activity_execution_failed: of('counter', ['activity_type']),
  temporal_local_activity_execution_latency: of('seconds', ['activity_type'], workBuckets),
  temporal_local_activity_execution_failed: of('counter', ['activity_type']),
  temporal_worker_task_slots_available: of('gauge', ['worker_type', 'task_queue']),
  temporal_worker_task_slots_used: of('gauge', ['worker_type', 'task_queue']),
  temporal_num_pollers: of('gauge', ['poller_type', 'task_queue']),
  temporal_sticky_cache_size: of('gauge', ['task_queue']),
  temporal_sticky_cache_hit: of('counter', ['task_queue']),
  temporal_sticky_cache_miss: of('counter', ['task_queue']),
  temporal_sticky_cache_total_forced_eviction: of('counter', ['task_queue']),
  temporal_request: of('counter', ['operation']),
  temporal_request_failure: of('counter', ['operation', 'status_code']),
  // Of the polls, which are all that an idle worker sends.
  temporal_long_request_failure: of('counter', ['operation', 'status_code']),
  temporal_request_latency: of('seconds', ['operation'], waitBuckets),
} as const

interface KnownLabels {
  taskQueues: string[]
  activityTypes: string[]
}

/**
 * Adds updates of the SDK's metrics to the registry: counters end in `_total`, times are in seconds. Activities are
 * named after tools, whose names users choose: all of those count as `tool`.
 */
export function createTemporalMetrics(registry: Registry, known: KnownLabels) {
  const registers = [registry]
  const taskQueues = new Set(known.taskQueues)
  const activityTypes = new Set(known.activityTypes)
  const record = new Map<string, (update: BufferedMetricUpdate) => void>()

  function labelsOf(names: string[], attributes: BufferedMetricUpdate['attributes']): Record<string, string> {
    const labels: Record<string, string> = {}
    for (const name of names) {
      const value = String(attributes[name] ?? '')
      if (name === 'task_queue') labels[name] = taskQueues.has(value) ? value : 'other'
      else if (name === 'activity_type') labels[name] = activityTypes.has(value) ? value : 'tool'
      else labels[name] = value
    }
    return labels
  }

  for (const [name, { kind, labels, buckets }] of Object.entries(kept)) {
    const help = `${name} of Temporal's SDK.`
    const labelNames = labels
    if (kind === 'counter') {
      const counter = new Counter({ name: `${name}_total`, help, labelNames, registers })
      record.set(name, ({ value, attributes }) => counter.inc(labelsOf(labels, attributes), value))
    } else if (kind === 'gauge') {
      const gauge = new Gauge({ name, help, labelNames, registers })
      record.set(name, ({ value, attributes }) => gauge.set(labelsOf(labels, attributes), value))
    } else {
      const histogram = new Histogram({ name: `${name}_seconds`, help, labelNames, buckets: buckets ?? [], registers })
      record.set(name, ({ value, attributes }) => histogram.observe(labelsOf(labels, attributes), value))
    }
  }
  return (updates: Iterable<BufferedMetricUpdate>): void => {
    for (const update of updates) record.get(update.metric.name)?.(update)
  }
}
