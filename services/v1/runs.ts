import { AppError } from '../../domain/errors.ts'
import { checkFreeForm } from '../../domain/foreign-json.ts'
import type { Metadata } from '../../domain/metadata.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ToolCallRecord } from '../../domain/records/tool-call.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import type { NamedThreads } from '../public/named-threads.ts'
import { type FollowedRun, type ListedRun, type NewRun, type Runs, requireControl } from '../runs/index.ts'
import { runStore } from '../stores/runs.ts'
import { toolCallStore } from '../stores/tool-calls.ts'
import { responseStore } from './store.ts'

interface V1RunsDeps {
  collections: Pick<Collections, 'runs' | 'toolCalls'>
  threads: Pick<NamedThreads, 'read' | 'findRun'>
  runs: Pick<Runs, 'startFollowed' | 'follow' | 'cancel' | 'get' | 'submitOutputs'>
  settings: { clientCallsExpireSeconds: number }
}

/** A run with the calls that its client is to execute. */
export interface RunOfClient {
  run: ListedRun
  calls: ToolCallRecord[]
}

/** Runs on the threads of a project, as the assistants API has them. */
export function createV1Runs({ collections, threads, runs, settings }: V1RunsDeps) {
  const responses = responseStore(collections)

  /** The calls for which these runs wait, by run. */
  async function withCalls(listed: ListedRun[]): Promise<RunOfClient[]> {
    const waiting = listed.filter(({ status }) => status === 'interrupted').map(({ _id }) => _id)
    const calls = waiting.length === 0 ? [] : await toolCallStore(collections).listForClient(waiting)
    return listed.map((run) => ({ run, calls: calls.filter(({ run_id: id }) => id === run._id) }))
  }

  async function withOwnCalls(run: ListedRun): Promise<RunOfClient> {
    const [found] = await withCalls([run])
    return found ?? { run, calls: [] }
  }

  return {
    withCalls,
    withOwnCalls,
    expireSeconds: settings.clientCallsExpireSeconds,
    get: runs.get,
    follow: (run: RunRecord) => runs.follow(run),
    /** For what only who started it and the owner of its thread may do. */
    async findControlled(caller: Caller, threadId: string, runId: string): Promise<RunRecord> {
      const thread = await threads.read(caller, threadId)
      const run = await threads.findRun(caller, threadId, runId)
      requireControl(caller, run, thread.user_id)
      return run
    },
    cancel: runs.cancel,

    /** Throws `bad_request` while another run is open on the thread. */
    async start(newRun: NewRun, runId: string): Promise<FollowedRun> {
      try {
        return await runs.startFollowed(newRun, runId)
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'conflict')) throw error
        throw new AppError('bad_request', `Thread ${newRun.thread._id} already has an active run.`, { cause: error })
      }
    },

    /** All results for which the run waits. */
    async submit(run: RunRecord, outputs: { tool_call_id: string; output: string }[]): Promise<RunRecord> {
      const { calls } = await withOwnCalls(run)
      if (calls.length === 0) throw new AppError('bad_request', 'This run does not wait for the results of functions.')
      const missing = calls.filter(({ call_id: id }) => outputs.every((output) => output.tool_call_id !== id))
      if (missing.length > 0)
        throw new AppError('bad_request', `Results are missing for ${missing.map(({ call_id: id }) => id).join(', ')}.`)
      return runs.submitOutputs(run, outputs)
    },

    async setMetadata(run: RunRecord, metadata: Metadata): Promise<RunRecord> {
      const metadata_json = checkFreeForm(['body', 'metadata'], metadata)
      await responses.setMetadata(run.user_id, run, metadata_json)
      return { ...run, metadata_json }
    },

    /** The assistant of each of these runs of a thread. */
    async assistantsOf(threadId: string, runIds: string[]): Promise<Map<string, string>> {
      if (runIds.length === 0) return new Map()
      const found = await responses.listAssistants(threadId, [...new Set(runIds)])
      return new Map(found.map(({ _id, assistant_id: assistantId }) => [_id, assistantId]))
    },

    async reread(run: RunRecord): Promise<RunRecord> {
      return (await runStore(collections).findOwnedInThread(run.user_id, run)) ?? run
    },
  }
}
