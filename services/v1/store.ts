import type { ClientSession } from 'mongoose'
import type { GatewayRecord } from '../../domain/records/assistant.ts'
import { type RunKey, type RunRecord, runKey } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import type { UserInProject } from '../owner.ts'
import type { Page } from '../page.ts'
import { isMatched } from '../stores/results.ts'

type ApprovalRun = Pick<RunRecord, '_id' | 'thread_id' | 'status' | 'allowed_calls'>
export type CompletionRun = RunRecord & { completion: NonNullable<RunRecord['completion']> }

const own = ({ userId, projectId }: UserInProject) => ({ user_id: userId, project_id: projectId })
const present = { deleting: { $ne: true } } as const
const recordBytes = 1000

/** Statements on the containers of a caller, which are threads. */
export const containerStore = ({ threads }: Pick<Collections, 'threads'>) => ({
  countAlive: async (userId: string, session: ClientSession) =>
    threads.countDocuments(
      { user_id: userId, container: { $exists: true }, expires_at: { $gt: new Date() }, ...present },
      { session },
    ),

  page(caller: UserInProject, query: PageQuery, name: string | undefined): Promise<Page<ThreadRecord>> {
    const named = name === undefined ? {} : { name }
    const those = { ...own(caller), container: { $exists: true }, ...present, ...named }
    return storedPage(query, {
      find: async (id) => threads.findOne({ _id: id, ...those }, { created_at: 1 }).lean<ThreadRecord>(),
      read: (range, sort) =>
        threads
          .find({ ...those, ...range })
          .sort(sort)
          .lean<ThreadRecord>(),
      bytesOf: () => recordBytes,
    })
  },
})

/** Statements on the conversations of a caller, which are threads. */
export const conversationStore = ({ threads }: Pick<Collections, 'threads'>) => {
  const conversation = (caller: UserInProject, id: string) =>
    ({ _id: id, ...own(caller), kind: 'conversation', ...present }) as const
  return {
    find: async (caller: UserInProject, id: string) => threads.findOne(conversation(caller, id)).lean<ThreadRecord>(),

    /** The changed one; null if there is none. */
    change: async (caller: UserInProject, id: string, $set: Partial<ThreadRecord>) =>
      threads.findOneAndUpdate(conversation(caller, id), { $set }, { returnDocument: 'after' }).lean<ThreadRecord>(),
  }
}

/** Statements on the hidden assistant of a project; the id names the project. */
export const gatewayStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  find: async (id: string) => assistants.findOne({ _id: id, kind: 'gateway' }).lean<GatewayRecord>(),

  add: async (gateway: GatewayRecord, session: ClientSession) => assistants.create([gateway], { session }),
})

/** Statements on the completions that a caller has stored in a project. */
export const completionStore = ({ runs }: Pick<Collections, 'runs'>) => {
  const stored = (caller: UserInProject) => ({ ...own(caller), 'completion.stored': true, status: 'success' }) as const
  return {
    find: async (caller: UserInProject, id: string) =>
      runs.findOne({ _id: id, ...stored(caller) }).lean<CompletionRun>(),

    page: (caller: UserInProject, query: PageQuery, wanted: object): Promise<Page<CompletionRun>> =>
      storedPage(query, {
        find: async (id) => runs.findOne({ _id: id, ...stored(caller) }, { created_at: 1 }).lean<RunRecord>(),
        read: (range, sort) =>
          runs
            .find({ ...stored(caller), ...wanted, ...range }, { input_json: 0 })
            .sort(sort)
            .lean<CompletionRun>(),
        bytesOf: (run) => Buffer.byteLength(JSON.stringify(run)),
      }),

    /** The changed one; null if there is none. */
    change: async (caller: UserInProject, key: RunKey, $set: object) =>
      runs
        .findOneAndUpdate({ ...runKey(key), ...stored(caller) }, { $set }, { returnDocument: 'after' })
        .lean<CompletionRun>(),
  }
}

/** Statements on responses, which are runs of a caller. */
export const responseStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  find: async (caller: UserInProject, id: string) =>
    runs
      .findOne({ _id: id, ...own(caller), response_json: { $exists: true }, response_removed: { $ne: true } })
      .lean<RunRecord>(),

  /** Where a run is, and which runs make the calls that it has asked about. */
  findForApproval: async (caller: UserInProject, id: string) =>
    runs.findOne({ _id: id, ...own(caller) }, { thread_id: 1, status: 1, allowed_calls: 1 }).lean<ApprovalRun>(),

  /** Lets a run make a call; false if another one was let since it was read. */
  claimCall: async (userId: string, key: RunKey, call: string, known: string | undefined, runId: string) =>
    isMatched(
      await runs.updateOne(
        { ...runKey(key), user_id: userId, [`allowed_calls.${call}`]: known ?? { $exists: false } },
        { $set: { [`allowed_calls.${call}`]: runId } },
      ),
    ),

  releaseCall: async (userId: string, key: RunKey, call: string, runId: string) =>
    runs.updateOne(
      { ...runKey(key), user_id: userId, [`allowed_calls.${call}`]: runId },
      { $unset: { [`allowed_calls.${call}`]: 1 } },
    ),

  /** Notes what goes on from a response that is as it was read. */
  noteContinued: async (run: RunRecord, text: string) =>
    isMatched(
      await runs.updateOne({ ...runKey(run), response_json: run.response_json }, { $set: { response_json: text } }),
    ),

  /** Without a text, nothing is left of what it was. */
  noteRemoved: async (userId: string, key: RunKey, left?: string) =>
    runs.updateOne(
      { ...runKey(key), user_id: userId },
      left === undefined
        ? { $unset: { response_json: 1 }, $set: { response_removed: true } }
        : { $set: { response_json: left, response_removed: true } },
    ),

  /** Beside this one, in its thread, which was found as the own. */
  hasOthers: async ({ _id, thread_id }: RunKey) =>
    (await runs.exists({ thread_id, _id: { $ne: _id }, response_json: { $exists: true } })) !== null,

  newestInThread: async (threadId: string) => runs.findOne({ thread_id: threadId }).sort({ _id: -1 }).lean<RunRecord>(),

  listFacts: async ({ _id, user_id }: ThreadRecord, ids: string[]) =>
    runs
      .find({ thread_id: _id, user_id, _id: { $in: ids } }, { response_json: 1 })
      .lean<Pick<RunRecord, '_id' | 'response_json'>[]>(),

  setMetadata: async (userId: string, key: RunKey, metadata_json: string) =>
    runs.updateOne({ ...runKey(key), user_id: userId }, { $set: { metadata_json } }),

  /** The assistants of runs of a thread, which was found as the own. */
  listAssistants: async (threadId: string, ids: string[]) =>
    runs
      .find({ thread_id: threadId, _id: { $in: ids } }, { assistant_id: 1 })
      .lean<Pick<RunRecord, '_id' | 'assistant_id'>[]>(),
})
