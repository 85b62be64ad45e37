import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** A request that only reads takes milliseconds; one that waits for a run takes as long as the model. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** From a test model's milliseconds to a reasoning model's minutes. */
const modelBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
/** Readers see text at most thirty times a second (33 ms), and a comment after 15 s of silence. */
const gapBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60]
/** A store on the same network answers within a millisecond or two; what takes seconds is a failure. */
const storeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
/** An idle worker takes a task within milliseconds; a wait of seconds means that workers are missing. */
const waitBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300]
/** Reading and embedding a page takes under a second, a gigabyte many minutes. */
const stageBuckets = [0.1, 0.5, 1, 5, 15, 60, 300, 1800]

/**
 * All metrics of a process except those of Temporal's SDK. Label values come from fixed sets: never an id, a name
 * that a user chose, or text from outside (docs/metrics.md).
 */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const counter = <const L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name: `assistant_${name}`, help, labelNames, registers })
  const gauge = (name: string, help: string) => new Gauge({ name: `assistant_${name}`, help, registers })
  const histogram = <const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[],
  ) => new Histogram({ name: `assistant_${name}`, help, labelNames, buckets: [...buckets], registers })

  return {
    registry,
    requests: counter('http_requests_total', 'Requests by operation and status.', ['operation', 'status']),
    requestSeconds: histogram(
      'http_request_seconds',
      'Time of a request, streams included.',
      ['operation'],
      requestBuckets,
    ),
    openStreams: gauge('streams_open', 'Server-sent event streams that are open.'),
    firstEventSeconds: histogram(
      'stream_first_event_seconds',
      'From request to first event.',
      ['operation'],
      requestBuckets,
    ),
    firstDataSeconds: histogram(
      'stream_first_data_seconds',
      'From request to first event with text.',
      ['operation'],
      modelBuckets,
    ),
    eventGapSeconds: histogram('stream_event_gap_seconds', 'Between two events of a stream.', [], gapBuckets),
    runsEnded: counter('runs_ended_total', 'Runs that ended, by how.', ['status']),
    runSeconds: histogram('run_seconds', 'From the creation of a run to its end.', ['status'], modelBuckets),
    runWaitSeconds: histogram('run_wait_seconds', 'From the creation of a run to its first step.', [], waitBuckets),
    modelSeconds: histogram(
      'model_request_seconds',
      'Time of one answer of a model.',
      ['model', 'outcome'],
      modelBuckets,
    ),
    modelTokens: counter('model_tokens_total', 'Tokens by model, as the model server counts them.', ['model', 'kind']),
    toolSeconds: histogram('tool_call_seconds', 'Time of a tool call.', ['type', 'outcome'], modelBuckets),
    ingestionSeconds: histogram(
      'ingestion_stage_seconds',
      'Time of a stage of a file.',
      ['stage', 'outcome'],
      stageBuckets,
    ),
    vectorSeconds: histogram('vector_call_seconds', 'Calls to the vector store.', ['call', 'outcome'], storeBuckets),
    mongoSeconds: histogram('mongodb_command_seconds', 'Commands to MongoDB.', ['command', 'outcome'], storeBuckets),
    mongoConnections: gauge('mongodb_connections_in_use', 'Connections to MongoDB that are in use.'),
    redisSeconds: histogram('redis_command_seconds', 'Commands to Redis.', ['command', 'outcome'], storeBuckets),
  }
}

/** Seconds since `start`, which `performance.now()` gave. */
export function secondsSince(start: number): number {
  return (performance.now() - start) / 1000
}
