import type { Message } from '../../domain/messages.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import type { ModelAccount } from '../engine/chat-model.ts'
import type { ThreadLog } from '../threads/log.ts'
import type { Tracing } from '../tracing.ts'
import type { RunInTransaction } from '../transactions.ts'
import { createRuns } from './index.ts'
import { createDecisions } from './decisions.ts'
import { createRunFeeds } from './run-feeds.ts'
import { createRunSnapshots, runOutput } from './run-snapshot.ts'
import type { RunStream } from './run-stream.ts'
import { createStartRequested } from './start-request.ts'
import type { ThreadActor } from './thread-actor.ts'

export interface RunPorts {
  runStream: RunStream
  threadActor: ThreadActor
  tracing: Pick<Tracing, 'ended' | 'currentTraceparent'>
  onError(error: unknown): void
}

interface WireRunsDeps extends RunPorts {
  collections: Collections
  transaction: RunInTransaction
  log: ThreadLog
  accountOf(assistant: AssistantRecord): ModelAccount | undefined
  threads: Parameters<typeof createStartRequested>[0]['threads']
  assistants: Parameters<typeof createStartRequested>[0]['assistants']
}

/** All that callers do with runs. */
export function wireRuns({ runStream: stream, threadActor: actor, ...deps }: WireRunsDeps) {
  const runs = createRuns({ ...deps, stream, actor })
  return {
    runs,
    startRun: createStartRequested({ threads: deps.threads, assistants: deps.assistants, runs }),
    resumeRun: createDecisions({ ...deps, actor, stream }).resumeRun,
    runFeeds: createRunFeeds({ stream, snapshot: createRunSnapshots(deps.collections), onError: deps.onError }),
    runOutput: (runId: string): Promise<Message[]> => runOutput(deps.collections, runId),
  }
}
