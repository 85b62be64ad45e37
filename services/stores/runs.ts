import { type ModelUsage, type RunKey, type RunRecord, openRunStatuses, runKey } from '../../domain/records/run.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'

/** Lists do not contain inputs, because each may have megabytes. */
export const withoutInput = { input_json: 0 } as const
export type ListedRun = Omit<RunRecord, 'input_json'>
export const runBytes = (run: ListedRun): number => Buffer.byteLength(JSON.stringify(run))

/** Selects ended runs that count. */
export const usedRuns = [
  { status: 'success' as const },
  { status: 'cancelled' as const, started_at: { $exists: true } },
  { status: { $in: ['error' as const, 'cancelled' as const] }, usage: { $exists: true } },
  { status: { $in: ['error' as const, 'cancelled' as const] }, last_data_event_id: { $exists: true } },
]

const isOpen = { status: { $in: [...openRunStatuses] } }
const inputMembers = { thread_id: 1, input_json: 1, created_at: 1 } as const
/** What becomes the input of an open run's thread. */
export type OpenInput = Pick<RunRecord, '_id' | keyof typeof inputMembers>

/** Statements on `runs`. A run's key names its thread, which is its owner. */
export const runStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  findInThread: async (key: RunKey) => runs.findOne(runKey(key)).lean<RunRecord>(),

  findListedInThread: async (key: RunKey) => runs.findOne(runKey(key), withoutInput).lean<ListedRun>(),

  /** Newest first, as many as fit into one answer. */
  listInThread: (threadId: string, range: PageRange): Promise<Page<ListedRun>> =>
    readPage(runs.find({ thread_id: threadId }, withoutInput).sort({ _id: -1 }).lean<ListedRun>(), range, runBytes),

  /** The budgets in which it counts. */
  async budgetsInThread(key: RunKey): Promise<string[] | undefined> {
    return (await runs.findOne(runKey(key), { budgets: 1 }).lean<Pick<RunRecord, 'budgets'>>())?.budgets
  },

  /** Who has started it: the holder of the project, or a member. */
  async userInProject(projectId: string, key: RunKey): Promise<string | undefined> {
    const own = { ...runKey(key), project_id: projectId }
    return (await runs.findOne(own, { user_id: 1 }).lean<Pick<RunRecord, 'user_id'>>())?.user_id
  },

  /** Its messages, of a user's run. */
  async inputOwned(
    userId: string,
    { _id, thread_id }: { _id: string; thread_id: string | undefined },
  ): Promise<string | undefined> {
    const run = await runs
      .findOne({ _id, thread_id, user_id: userId }, { input_json: 1 })
      .lean<Pick<RunRecord, 'input_json'>>()
    return run?.input_json
  },

  /** Where they are and whether they have ended, for a budget that names them. */
  statesOfAny: async (ids: string[]) =>
    runs
      .find({ _id: { $in: ids } }, { thread_id: 1, status: 1, finished_at: 1 })
      .lean<Pick<RunRecord, '_id' | 'thread_id' | 'status' | 'finished_at'>[]>(),

  /** Open ones that a budget has not counted: the filter names its assistants or its owner. */
  listOpen: async (filter: object, most: number) =>
    runs
      .find({ ...filter, ...isOpen }, { assistant_id: 1, overrides: 1 })
      .limit(most)
      .lean<Pick<RunRecord, '_id' | 'assistant_id' | 'overrides'>[]>(),

  /** The same for ended ones: how many there are, and their tokens by model. */
  async sumUsed(filter: object): Promise<{ count: number; usages: ModelUsage[] }> {
    const used = { ...filter, $or: usedRuns }
    const count = await runs.countDocuments(used)
    const usages = await runs.aggregate<ModelUsage>([
      { $match: { ...used, usage: { $exists: true } } },
      { $set: { parts: { $ifNull: ['$usage_by_model', [{ $mergeObjects: ['$usage', { model: '$model' }] }]] } } },
      { $unwind: '$parts' },
      {
        $group: {
          _id: '$parts.model',
          prompt_tokens: { $sum: '$parts.prompt_tokens' },
          completion_tokens: { $sum: '$parts.completion_tokens' },
          total_tokens: { $sum: '$parts.total_tokens' },
          cached_tokens: { $sum: '$parts.cached_tokens' },
          cache_write_tokens: { $sum: '$parts.cache_write_tokens' },
        },
      },
      { $set: { model: { $ifNull: ['$_id', ''] } } },
    ])
    return { count, usages }
  },

  /** The oldest open run of a thread, or this run if it is open. */
  findOldestOpen: async (filter: Pick<RunKey, 'thread_id'> | RunKey) =>
    runs
      .findOne({ ...filter, ...isOpen }, inputMembers)
      .sort({ _id: 1 })
      .lean<OpenInput>(),

  listOpenInputs: async (threadId: string) =>
    runs.find({ thread_id: threadId, ...isOpen }, { input_json: 1 }).lean<Pick<RunRecord, '_id' | 'input_json'>[]>(),

  listOpenStates: async (threadIds: string[]) =>
    runs
      .find({ thread_id: { $in: threadIds }, ...isOpen }, { thread_id: 1, status: 1 })
      .lean<Pick<RunRecord, '_id' | 'thread_id' | 'status'>[]>(),

  hasAny: async (userId: string, threadId: string) =>
    (await runs.exists({ thread_id: threadId, user_id: userId })) !== null,

  /** The ids of all of a thread, one by one. */
  openIdsInThread: (threadId: string) =>
    runs.find({ thread_id: threadId }, { _id: 1 }).lean<Pick<RunRecord, '_id'>>().cursor({ batchSize: 50 }),

  async inputInThread(key: RunKey): Promise<string | undefined> {
    return (await runs.findOne(runKey(key), { input_json: 1 }).lean<Pick<RunRecord, 'input_json'>>())?.input_json
  },

  /** Replaces an input that is as it was read. */
  replaceInput: async (key: RunKey, asRead: string, input_json: string) =>
    runs.updateOne({ ...runKey(key), input_json: asRead }, { $set: { input_json } }),

  hasOwnedInThread: async (userId: string, key: RunKey) =>
    (await runs.exists({ ...runKey(key), user_id: userId })) !== null,

  /** Where a user's run is. */
  findKeyOwned: async (userId: string, id: string) =>
    runs.findOne({ _id: id, user_id: userId }, { thread_id: 1 }).lean<RunKey>(),

  /** Open ones of a user, or of assistants, whose work ends. */
  listOpenKeys: async (
    of: { user_id: string; project_id?: string; in_chat_of_other?: true } | { assistant_id: { $in: string[] } },
  ) => runs.find({ ...of, ...isOpen }, { thread_id: 1 }).lean<RunKey[]>(),

  hasOpenInThread: async (threadId: string) => (await runs.exists({ thread_id: threadId, ...isOpen })) !== null,

  /** For the retention: those that have waited since then. */
  listWaitingOfAny: async (created: Date, most: number) =>
    runs
      .find({ status: 'interrupted', created_at: { $lt: created } }, withoutInput)
      .limit(most)
      .lean<RunRecord[]>(),

  add: async (run: RunRecord) => runs.create([run]),

  remove: async (key: RunKey) => runs.deleteOne(runKey(key)),

  /** Only how it failed, if it did. */
  findErrorInThread: async (key: RunKey) => runs.findOne(runKey(key), { error: 1 }).lean<Pick<RunRecord, 'error'>>(),

  /** Of a user, in a thread that is known. */
  findOwnedInThread: async (userId: string, key: RunKey) =>
    runs.findOne({ ...runKey(key), user_id: userId }).lean<RunRecord>(),

  /** Of a user, by their keys. */
  listOwnedByKeys: (userId: string, keys: RunKey[]): Promise<ListedRun[]> =>
    runs
      .find(
        {
          _id: { $in: keys.map(({ _id }) => _id) },
          thread_id: { $in: keys.map((key) => key.thread_id) },
          user_id: userId,
        },
        withoutInput,
      )
      .lean<ListedRun[]>()
      .exec(),
})
