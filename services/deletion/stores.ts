import { loginFailureKey } from '../accounts/login-guard.ts'
import { budgetId } from '../../domain/records/budget.ts'
import type { Billing } from '../billing/index.ts'
import type { Collections } from '../collections.ts'
import {
  type KnowledgeStores,
  countAssistantKnowledge,
  countProjectFiles,
  deleteAssistantKnowledge,
  deleteProjectFiles,
  knowledgeKinds,
} from '../knowledge/delete-knowledge.ts'
import { memoryCapability } from '../memory/capability.ts'
import { declaredStores } from '../owned-data/declared-stores.ts'
import { membershipStore } from './memberships.ts'
import type { RunStream } from '../runs/run-stream.ts'
import { scheduleStores } from '../schedules/delete-schedules.ts'
import type { Timetable } from '../schedules/timetable.ts'
import { sourceStores } from '../sources/delete-source.ts'
import type { RefreshTimetable } from '../sources/refresh-timetable.ts'
import type { RunInTransaction } from '../transactions.ts'
import { ownedStore } from '../owned-data/owned-store.ts'
import { type Erasable, eraseAll } from '../owned-data/erase-all.ts'
import { type Members, type Store, inBatches, sumOver } from '../owned-data/data-store.ts'

export interface StoresDeps {
  collections: Collections
  transaction: RunInTransaction
  stream: Pick<RunStream, 'remove' | 'count'>
  knowledge: KnowledgeStores
  billing: Pick<Billing, 'endFor'>
  timetable: Timetable
  refreshes: RefreshTimetable
}

/**
 * The registry of stores: which data belongs to which owner, and how it is removed and counted. A test fails until
 * a new collection is added here (or to `keptCollections`, with the reason).
 */
export function createStores(deps: StoresDeps): Store[] {
  const { collections, transaction, stream, knowledge, billing, timetable, refreshes } = deps
  return [
    ...scheduleStores({ collections, transaction, timetable }),
    ...sourceStores({ collections, transaction, refreshes }),
    ...knowledgeStores(knowledge),
    ownedStore('file_batches', collections.fileBatches, ['user_id', 'assistant_id'], transaction),
    ...declaredStores(collections, transaction),
    ...memoryCapability.stores(knowledge),
    runStreams(collections, stream),
    ofThreads(transaction, 'tool_calls', collections.toolCalls),
    ofThreads(transaction, 'checkpoints', collections.checkpoints),
    ofThreads(transaction, 'shares', collections.shares),
    ofThreads(transaction, 'feedback', collections.feedback),
    ofThreads(transaction, 'attachments', collections.attachments),
    loginFailures(collections),
    ofUsers(transaction, 'password_resets', collections.passwordResets),
    ofUsers(transaction, 'pending_passwords', collections.pendingPasswords),
    ofUsers(transaction, 'program_logins', collections.programLogins),
    membershipStore({ collections, transaction }),
    idempotencyKeys(transaction, collections),
    ofUsers(transaction, 'audit_entries', collections.auditEntries),
    evaluationStore(transaction, collections.evaluations),
    budgetStore(transaction, collections.budgets),
    purchases(ofUsers(transaction, 'purchases', collections.purchases), billing),
    { ...ofThreads(transaction, 'runs', collections.runs), phase: 'owners' },
  ]
}

/** Collections that deletions do not remove, and why. */
export const keptCollections: Record<string, string> = {
  model_settings: 'the model servers of the operator, which belong to no user',
  receipts: 'the proof of the deletion: ids and counts',
  billing_events: 'ids of events of the payment provider, which name nobody; they go after 30 days',
  schema_state: 'which migrations the database has seen',
}

/** The owners themselves: removed last, by `owners.ts`. */
export const ownerCollections = ['threads', 'assistants', 'projects', 'users']

/** Records with a `thread_id`. */
type OfThreads = Erasable<{ thread_id: { $in: string[] } }> & {
  countDocuments(filter: { thread_id: { $in: string[] } }): PromiseLike<number>
}

function ofThreads(transaction: RunInTransaction, name: string, collection: OfThreads): Store {
  const filter = (ids: string[]) => ({ thread_id: { $in: ids } })
  return {
    name,
    phase: 'contents',
    collections: [name],
    deleteFor: ({ threadIds }) => inBatches(threadIds, (ids) => eraseAll(transaction, collection, filter(ids))),
    countFor: ({ threadIds }) => sumOver(threadIds, async (ids) => collection.countDocuments(filter(ids))),
  }
}

/** Records with a `user_id` that belong to nobody else. */
type OfUsers = Erasable<{ user_id: { $in: string[] } }> & {
  countDocuments(filter: { user_id: { $in: string[] } }): PromiseLike<number>
}

function ofUsers(transaction: RunInTransaction, name: string, collection: OfUsers): Store {
  const filter = (ids: string[]) => ({ user_id: { $in: ids } })
  return {
    name,
    phase: 'contents',
    collections: [name],
    deleteFor: ({ userIds }) => inBatches(userIds, (ids) => eraseAll(transaction, collection, filter(ids))),
    countFor: ({ userIds }) => sumOver(userIds, async (ids) => collection.countDocuments(filter(ids))),
  }
}

/** Anything that is found by its id. */
type ById = Erasable<{ _id: { $in: string[] } }> & {
  countDocuments(filter: { _id: { $in: string[] } }): PromiseLike<number>
}

function evaluationStore(transaction: RunInTransaction, evaluations: ById): Store {
  return {
    name: 'evaluations',
    phase: 'contents',
    collections: ['evaluations'],
    deleteFor: ({ assistantIds }) =>
      inBatches(assistantIds, (ids) => eraseAll(transaction, evaluations, { _id: { $in: ids } })),
    countFor: ({ assistantIds }) =>
      sumOver(assistantIds, async (ids) => evaluations.countDocuments({ _id: { $in: ids } })),
  }
}

function budgetStore(transaction: RunInTransaction, budgets: ById): Store {
  const idsOf = ({ projectIds, assistantIds }: Members) => [
    ...projectIds.map((id) => budgetId('project', id)),
    ...assistantIds.map((id) => budgetId('public', id)),
  ]
  return {
    name: 'budgets',
    phase: 'contents',
    collections: ['budgets'],
    deleteFor: (members) => inBatches(idsOf(members), (ids) => eraseAll(transaction, budgets, { _id: { $in: ids } })),
    countFor: (members) => sumOver(idsOf(members), async (ids) => budgets.countDocuments({ _id: { $in: ids } })),
  }
}

/** Cancels subscriptions too, so that nobody continues to pay for a deleted account. */
function purchases(store: Store, { endFor }: Pick<Billing, 'endFor'>): Store {
  return {
    ...store,
    async deleteFor(members) {
      await inBatches(members.userIds, endFor)
      await store.deleteFor(members)
    },
  }
}

/** Stored answers, by the records that they contain parts of. */
function idempotencyKeys(
  transaction: RunInTransaction,
  { idempotencyKeys: keys, runs }: Pick<Collections, 'idempotencyKeys' | 'runs'>,
): Store {
  const idsAbove = ({ userIds, projectIds, assistantIds }: Members) => [...userIds, ...projectIds, ...assistantIds]
  const idsOf = (members: Members) => [...idsAbove(members), ...members.threadIds]
  const naming = (ids: string[]) => ({ subjects: { $in: ids } })
  // A key names the run's thread only when its outcome is stored, and an API process that died has stored none.
  const withoutOutcome = (runIds: string[]) => ({ ...naming(runIds), outcome: { $exists: false } })
  return {
    name: 'idempotency_keys',
    phase: 'contents',
    collections: ['idempotency_keys'],
    async deleteFor(members) {
      await inBatches(idsOf(members), (ids) => eraseAll(transaction, keys, naming(ids)))
      await inRunBatches(runs, members, (runIds) => eraseAll(transaction, keys, withoutOutcome(runIds)))
    },
    async countFor(members) {
      let total = await sumOver(idsOf(members), async (ids) => keys.countDocuments(naming(ids)))
      await inRunBatches(runs, members, async (runIds, threadIds) => {
        const counted = naming([...idsAbove(members), ...threadIds])
        total += await keys.countDocuments({ ...withoutOutcome(runIds), $nor: [counted] })
      })
      return total
    },
  }
}

/** Streams are found by their runs, so runs are removed later. */
function runStreams({ runs }: Pick<Collections, 'runs'>, stream: StoresDeps['stream']): Store {
  return {
    name: 'run_streams',
    phase: 'contents',
    collections: [],
    deleteFor: (members) => inRunBatches(runs, members, (runIds) => stream.remove(runIds)),
    async countFor(members) {
      let total = 0
      await inRunBatches(runs, members, async (runIds) => {
        total += await stream.count(runIds)
      })
      return total
    },
  }
}

/** The ids of all runs on the threads, in batches, each with the threads of its runs. */
async function inRunBatches(
  runs: Collections['runs'],
  { threadIds }: Members,
  work: (runIds: string[], threadIds: string[]) => Promise<unknown>,
): Promise<void> {
  await inBatches(threadIds, async (ids) => {
    const found = await runs.find({ thread_id: { $in: ids } }, { _id: 1 }).lean()
    const runIds = found.map((run) => run._id)
    await inBatches(runIds, (batch) => work(batch, ids))
  })
}

/** Files with their bytes, chunks and vectors are removed together for each owner, and counted separately. */
function knowledgeStores(knowledge: KnowledgeStores): Store[] {
  const collectionsOf = { files: ['files'], chunks: ['chunks'], vectors: [], blobs: ['blobs.files', 'blobs.chunks'] }
  return knowledgeKinds.map((name) => ({
    name,
    phase: 'contents',
    collections: collectionsOf[name],
    async deleteFor({ assistantIds, projectIds }) {
      if (name !== 'files') return
      for (const id of assistantIds) await deleteAssistantKnowledge(knowledge, id)
      for (const id of projectIds) await deleteProjectFiles(knowledge, id)
    },
    async countFor({ assistantIds, projectIds }) {
      let total = 0
      for (const id of assistantIds) total += await countAssistantKnowledge(knowledge, id, name)
      for (const id of projectIds) total += await countProjectFiles(knowledge, id, name)
      return total
    },
  }))
}

/** Found by the hash of the address; kept for minutes. */
function loginFailures({ loginFailures: failures, users }: Pick<Collections, 'loginFailures' | 'users'>): Store {
  const keysOf = async ({ userIds }: Members) => {
    const found = await users.find({ _id: { $in: userIds }, email: { $exists: true } }, { email: 1 }).lean()
    return found.flatMap((user) => (user.email === undefined ? [] : [loginFailureKey(user.email)]))
  }
  return {
    name: 'login_failures',
    phase: 'contents',
    collections: ['login_failures'],
    deleteFor: async (members) => {
      await failures.deleteMany({ _id: { $in: await keysOf(members) } })
    },
    countFor: async (members) => failures.countDocuments({ _id: { $in: await keysOf(members) } }),
  }
}
