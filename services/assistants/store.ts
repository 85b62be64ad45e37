import type { ClientSession, UpdateQuery } from 'mongoose'
import type { AssistantRecord, CompatAccountRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import { type Owner, ownFilter } from '../owner.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import { onlyAssistants } from '../stores/assistants.ts'
import { isMatched } from '../stores/results.ts'

/** Selects assistants that are not being deleted. */
const present = { deleting: { $ne: true }, ...onlyAssistants } as const
/** Batch size of a database cursor over records of up to a megabyte each. */
const configsAtOnce = 8
/** More than one configuration can name. */
const maxNamed = 2000
const maxStoresRead = 100
/** Size of an assistant without its configuration; a name has at most 1,000 characters. */
const restBytes = 5000

const listed = {
  project_id: 1,
  name: 1,
  open_config_json: 1,
  public: 1,
  created_at: 1,
  updated_at: 1,
} as const
/** An assistant as other users see it in lists. */
export type ListedAssistant = Pick<AssistantRecord, keyof typeof listed | '_id'>

type NamedAssistant = Pick<AssistantRecord, '_id' | 'name'>
type Named = { _id: { $in: string[] } } | { name: { $in: string[] } }
type Sized = (assistant: AssistantRecord) => number

/** The condition that the configuration is as it was read. */
const configAsRead = ({ _id, config_version }: AssistantRecord) => ({ _id, config_version })

/** The condition that the account is as it was read. */
function accountAsRead(known: CompatAccountRecord | undefined) {
  if (known === undefined) return { compat_account: { $exists: false } }
  return {
    'compat_account.kind': known.kind ?? { $exists: false },
    'compat_account.base_url': known.base_url,
    'compat_account.encrypted_key': known.encrypted_key ?? { $exists: false },
  }
}

/** Statements on the assistants of accounts and projects; what other folders ask of them is in services/stores. */
export const ownAssistantStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  findOwned: async (owner: Owner, id: string, session?: ClientSession) =>
    assistants
      .findOne({ _id: id, ...ownFilter(owner), ...present })
      .session(session ?? null)
      .lean<AssistantRecord>(),

  findInProject: async (projectId: string, id: string) =>
    assistants.findOne({ _id: id, project_id: projectId, ...present }).lean<AssistantRecord>(),

  /** The caller decides who may read it: everybody, if it is public. */
  findOfAny: async (id: string) => assistants.findOne({ _id: id, ...present }).lean<AssistantRecord>(),

  /** Also one that is being deleted: to say why an id is taken. */
  findTakenOfAny: async (id: string) => assistants.findOne({ _id: id }).lean<AssistantRecord>(),

  /** The same with those that are being deleted. */
  findAlsoDeletingOfAny: async (id: string) =>
    assistants.findOne({ _id: id, ...onlyAssistants }).lean<AssistantRecord>(),

  countInProject: async (projectId: string) => assistants.countDocuments({ project_id: projectId, ...onlyAssistants }),

  /** Oldest first. */
  listInProject: (projectId: string, range: PageRange, bytesOf: Sized): Promise<Page<AssistantRecord>> =>
    readPage(
      assistants
        .find({ project_id: projectId, ...present })
        .sort({ created_at: 1, _id: 1 })
        .lean<AssistantRecord>()
        .batchSize(configsAtOnce),
      range,
      (assistant) => bytesOf(assistant) + restBytes,
    ),

  pageInProject: (projectId: string, query: PageQuery, bytesOf: Sized): Promise<Page<AssistantRecord>> => {
    const own = { project_id: projectId, ...present }
    return storedPage(query, {
      find: async (id) => assistants.findOne({ _id: id, ...own }, { created_at: 1 }).lean<AssistantRecord>(),
      read: (range, sort) =>
        assistants
          .find({ ...own, ...range })
          .sort(sort)
          .lean<AssistantRecord>()
          .batchSize(configsAtOnce),
      bytesOf: (assistant) => bytesOf(assistant) + restBytes,
    })
  },

  /** The public ones of all users, newest first: what everybody may see of them. */
  listPublicOfAny: (range: PageRange): Promise<Page<ListedAssistant>> =>
    readPage(
      assistants
        .find({ public: true, suspended: { $ne: true }, ...present }, listed)
        .sort({ created_at: -1, _id: -1 })
        .lean<ListedAssistant>(),
      range,
      ({ open_config_json: open = '' }) => Buffer.byteLength(open) + restBytes,
    ),

  listByName: async (projectId: string, name: string, most: number) =>
    assistants
      .find({ project_id: projectId, name, ...present })
      .limit(most)
      .lean<AssistantRecord[]>(),

  listNewest: async (projectId: string, most: number) =>
    assistants
      .find({ project_id: projectId, ...present }, { created_at: 1 })
      .sort({ created_at: -1, _id: -1 })
      .limit(most)
      .lean<Pick<AssistantRecord, '_id' | 'created_at'>[]>(),

  /** Names and ids of those that a configuration names. */
  listNamed: async (projectId: string, named: Named) =>
    assistants
      .find({ project_id: projectId, ...present, ...named }, { name: 1 })
      .limit(maxNamed)
      .lean<NamedAssistant[]>(),

  /** The same of vector stores, the oldest first. */
  listNamedStores: async (projectId: string, named: Named) =>
    assistants
      .find({ project_id: projectId, kind: 'vector_store', deleting: { $ne: true }, ...named }, { name: 1 })
      .sort({ created_at: 1, _id: 1 })
      .limit(maxStoresRead)
      .lean<NamedAssistant[]>(),

  /** Of these, those that an assistant of the account in this project may ask. */
  async askableOf({ userId, projectId }: { userId: string; projectId: string }, ids: string[]): Promise<string[]> {
    const found = await assistants
      .find({ _id: { $in: ids }, user_id: userId, project_id: projectId, ...present }, { _id: 1 })
      .lean<Pick<AssistantRecord, '_id'>[]>()
    return found.map(({ _id }) => _id)
  },

  /** The same without those that are suspended, for the one that asks now. */
  listAskable: async ({ user_id, project_id }: Pick<AssistantRecord, 'user_id' | 'project_id'>, ids: string[]) =>
    assistants
      .find({ _id: { $in: ids }, user_id, project_id, ...present, suspended: { $ne: true } })
      .lean<AssistantRecord[]>(),

  canDelegateTo: async ({ user_id, project_id }: Pick<AssistantRecord, 'user_id' | 'project_id'>, id: string) =>
    (await assistants.exists({ _id: id, user_id, project_id, ...present, suspended: { $ne: true } })) !== null,

  add: async (assistant: AssistantRecord, session: ClientSession) => assistants.create([assistant], { session }),

  /** Null if there is none of this owner. */
  replaceOwned: async (owner: Owner, id: string, change: UpdateQuery<AssistantRecord>, session?: ClientSession) =>
    assistants
      .findOneAndUpdate({ _id: id, ...ownFilter(owner), ...present }, change, { returnDocument: 'after' })
      .session(session ?? null)
      .lean<AssistantRecord>(),

  /** Null if somebody else has written the configuration since it was read as the own. */
  changeConfig: async (read: AssistantRecord, change: UpdateQuery<AssistantRecord>) =>
    assistants
      .findOneAndUpdate({ ...configAsRead(read), ...present }, change, { returnDocument: 'after' })
      .lean<AssistantRecord>(),

  /** The same; false then. */
  async changeConfigOwned(owner: Owner, read: AssistantRecord, change: UpdateQuery<AssistantRecord>): Promise<boolean> {
    const same = { ...configAsRead(read), ...ownFilter(owner), ...present }
    return (await assistants.updateOne(same, change)).matchedCount > 0
  },

  /** False if somebody else has changed the account since it was read. */
  setAccount: async (owner: Owner, id: string, known: CompatAccountRecord | undefined, account: CompatAccountRecord) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, ...ownFilter(owner), deleting: { $ne: true }, ...accountAsRead(known) },
        { $set: { compat_account: account } },
      ),
    ),

  /** False if there is none. */
  removeAccount: async (owner: Owner, id: string) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, ...ownFilter(owner), compat_account: { $exists: true } },
        { $unset: { compat_account: 1 } },
      ),
    ),

  /** For the change of `SECRETS_KEY`: all, one by one, with vector stores and gateways. */
  openOfAny: () => assistants.find().lean<AssistantRecord[]>().cursor(),

  openWithKeyOfAny: () =>
    assistants
      .find({ 'compat_account.encrypted_key': { $exists: true } })
      .lean<AssistantRecord[]>()
      .cursor(),

  /** False if somebody else has written the configuration since. */
  resealConfigOfAny: async (read: AssistantRecord, change: UpdateQuery<AssistantRecord>) =>
    isMatched(await assistants.updateOne(configAsRead(read), change)),

  resealKeyOfAny: async (id: string, sealed: string, resealed: string) =>
    assistants.updateOne(
      { _id: id, 'compat_account.encrypted_key': sealed },
      { $set: { 'compat_account.encrypted_key': resealed } },
    ),
})

/** The threads of its public callers, and those in which others answered it there. */
const ofPublic = ({ _id }: AssistantRecord) => ({ $or: [{ assistant_id: _id, public: true }, { asked_for: _id }] })
const idOf = ({ _id }: { _id: string }) => _id
const threadsOfBatch = 500

/** Statements on what moves with an assistant into another project: it was found as its owner's. */
export const moveStore = ({ assistants, threads, runs }: Pick<Collections, 'assistants' | 'threads' | 'runs'>) => ({
  countThreads: async (assistant: AssistantRecord, session: ClientSession) =>
    threads.countDocuments(ofPublic(assistant), { session }),

  threadIds: async (assistant: AssistantRecord, session: ClientSession): Promise<string[]> =>
    (await threads.find(ofPublic(assistant), { _id: 1 }, { session }).lean()).map(idOf),

  moveThreads: async (ids: string[], from: string, to: string, session: ClientSession) =>
    threads.updateMany(
      { _id: { $in: ids }, project_id: from },
      { $set: { project_id: to } },
      { session, timestamps: false },
    ),

  /** Those that are in its project, one by one. */
  openMovedThreads: (assistant: AssistantRecord) =>
    threads
      .find({ ...ofPublic(assistant), project_id: assistant.project_id }, { _id: 1 })
      .lean<Pick<AssistantRecord, '_id'>>()
      .cursor({ batchSize: threadsOfBatch }),

  /** The runs of these threads that are not there yet. */
  moveRuns: async (threadIds: string[], to: string) =>
    runs.updateMany(
      { thread_id: { $in: threadIds }, project_id: { $ne: to } },
      { $set: { project_id: to } },
      { timestamps: false },
    ),

  storesInProject: async (projectId: string, ids: string[], session: ClientSession): Promise<string[]> => {
    const own = { _id: { $in: ids }, project_id: projectId, kind: 'vector_store' as const }
    return (await assistants.find(own, { _id: 1 }, { session }).lean()).map(idOf)
  },

  /** Of these, the conversations of the account. */
  threadsInProject: async (projectId: string, ids: string[], session: ClientSession): Promise<string[]> => {
    const own = { _id: { $in: ids }, project_id: projectId, public: false }
    return (await threads.find(own, { _id: 1 }, { session }).lean()).map(idOf)
  },
})
