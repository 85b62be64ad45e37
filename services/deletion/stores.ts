import { budgetId, memberBudgetsOf } from '../../domain/records/budget.ts'
import { loginFailureKey } from '../accounts/login-guard.ts'
import { loginFailureStore } from '../accounts/store.ts'
import type { Billing } from '../billing/index.ts'
import { storesOf } from '../capabilities.ts'
import type { Collections } from '../collections.ts'
import type { HandOver } from '../hand-over/index.ts'
import {
  type KnowledgeStores,
  countAssistantKnowledge,
  countProjectFiles,
  deleteAssistantKnowledge,
  deleteProjectFiles,
  knowledgeKinds,
} from '../knowledge/delete-knowledge.ts'
import { type Members, type Store, inBatches, sumOver } from '../owned-data/data-store.ts'
import { declaredStores } from '../owned-data/declared-stores.ts'
import { type Erasable, eraseAll } from '../owned-data/erase-all.ts'
import { ownedStore } from '../owned-data/owned-store.ts'
import type { RunStream } from '../runs/run-stream.ts'
import type { Timetable } from '../schedules/timetable.ts'
import type { RefreshTimetable } from '../sources/refresh-timetable.ts'
import { aboutSubjects, idempotencyStore, unfinishedAbout } from '../stores/idempotency.ts'
import type { RunInTransaction } from '../transactions.ts'
import { membershipStore } from './memberships.ts'
import { endedRunStore, traceStore } from './store.ts'

export interface StoresDeps {
  collections: Collections
  transaction: RunInTransaction
  stream: Pick<RunStream, 'remove' | 'count'>
  knowledge: KnowledgeStores
  billing: Pick<Billing, 'endFor'>
  timetable: Timetable
  refreshes: RefreshTimetable
  handOver: Pick<HandOver, 'countUnfinished' | 'finish'>
}

/**
 * The registry of stores: which data belongs to which owner, and how it is removed and counted. A test fails until
 * a new collection is added here (or to `retainedCollections`, with the reason).
 */
export function createStores(deps: StoresDeps): Store[] {
  const { collections, transaction, stream, knowledge, billing, timetable, refreshes, handOver } = deps
  const { beforeRecords, afterRecords } = storesOf({ collections, timetable, refreshes, vectors: knowledge.vectors })
  return [
    ...beforeRecords,
    ...declaredStores(collections, transaction),
    ...knowledgeStores(knowledge),
    ...afterRecords,
    runStreams(collections, stream),
    loginFailures(collections),
    membershipStore({ collections, transaction }),
    handedOverProjects(handOver),
    runsInChatsOfOthers(collections),
    idempotencyKeys(transaction, collections),
    ofIds(transaction, 'evaluations', collections.evaluations, ({ assistantIds: ids }) => ({ ids })),
    ofIds(transaction, 'budgets', collections.budgets, ({ projectIds, assistantIds }) => ({
      ids: [...projectIds.map((id) => budgetId('project', id)), ...assistantIds.map((id) => budgetId('public', id))],
      ranges: projectIds.map(memberBudgetsOf),
    })),
    purchases(ownedStore('purchases', collections.purchases, ['user_id'], transaction), billing),
  ]
}

/** Collections that deletions do not remove, and why. */
export const retainedCollections: Record<string, string> = {
  model_settings: 'the model servers of the operator, which belong to no user',
  receipts: 'the proof of the deletion: ids and counts',
  billing_events: 'ids of events of the payment provider, which name nobody; they go after 30 days',
  groups: 'what a group is called and allowed; who is in it stands in the records of the users',
  used_tokens: 'hashes of logout tokens, which name nobody; they go after minutes',
  schema_state: 'which migrations the database has seen',
}

/** The owners themselves: removed last, by `removeOwnersBelow`. */
export const ownerCollections = ['threads', 'assistants', 'projects', 'users']

/** Anything that is found by its id. */
type ById = Erasable<{ _id: IdsOf }> & {
  countDocuments(filter: { _id: IdsOf }): PromiseLike<number>
}
type IdsOf = { $in: string[] } | { $gte: string; $lt: string }

/** Records with the ids of their owners, or with ids that are made of these. */
function ofIds(
  transaction: RunInTransaction,
  name: string,
  collection: ById,
  filtersOf: (members: Members) => { ids: string[]; ranges?: { $gte: string; $lt: string }[] },
): Store {
  return {
    name,
    phase: 'contents',
    collections: [name],
    async deleteFor(members) {
      const { ids, ranges = [] } = filtersOf(members)
      await inBatches(ids, (some) => eraseAll(transaction, collection, { _id: { $in: some } }))
      for (const range of ranges) await eraseAll(transaction, collection, { _id: range })
    },
    async countFor(members) {
      const { ids, ranges = [] } = filtersOf(members)
      let total = await sumOver(ids, async (some) => collection.countDocuments({ _id: { $in: some } }))
      for (const range of ranges) total += await collection.countDocuments({ _id: range })
      return total
    },
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
  collections: Pick<Collections, 'idempotencyKeys' | 'runs' | 'threads'>,
): Store {
  const idsAbove = ({ userIds, projectIds, assistantIds }: Members) => [...userIds, ...projectIds, ...assistantIds]
  const idsOf = (members: Members) => [...idsAbove(members), ...members.threadIds]
  const store = idempotencyStore(collections)
  const erase = (filter: object) => eraseAll(transaction, collections.idempotencyKeys, filter)
  return {
    name: 'idempotency_keys',
    phase: 'contents',
    collections: ['idempotency_keys'],
    async deleteFor(members) {
      await inBatches(idsOf(members), (ids) => erase(aboutSubjects(ids)))
      await inRunBatches(collections, members, (runIds) => erase(unfinishedAbout(runIds)))
    },
    async countFor(members) {
      let total = await sumOver(idsOf(members), store.countAbout)
      await inRunBatches(collections, members, async (runIds, threadIds) => {
        total += await store.countUnfinished(runIds, [...idsAbove(members), ...threadIds])
      })
      return total
    },
  }
}

/** Projects that were given to others, of which records still name who held them. Nothing of them is deleted. */
function handedOverProjects({ finish, countUnfinished }: StoresDeps['handOver']): Store {
  return {
    name: 'handed_over_projects',
    phase: 'contents',
    collections: [],
    deleteFor: ({ userIds }) => finish(userIds),
    countFor: ({ userIds }) => countUnfinished(userIds),
  }
}

/** What he has started in chats of others is theirs: what was said there stays, and names him no more. */
function runsInChatsOfOthers(collections: Pick<Collections, 'runs' | 'threads'>): Store {
  const store = endedRunStore(collections)
  return {
    name: 'runs_in_chats_of_others',
    phase: 'contents',
    collections: [],
    deleteFor: ({ userIds }) =>
      inBatches(userIds, async (ids) => {
        for await (const run of store.openInChatsOfOthers(ids)) await store.giveToOwnerOfThread(run)
      }),
    countFor: ({ userIds }) => sumOver(userIds, store.countInChatsOfOthers),
  }
}

/** Streams are found by their runs, so runs are removed later. */
function runStreams(collections: Pick<Collections, 'runs' | 'threads'>, stream: StoresDeps['stream']): Store {
  return {
    name: 'run_streams',
    phase: 'contents',
    collections: [],
    deleteFor: (members) => inRunBatches(collections, members, (runIds) => stream.remove(runIds)),
    async countFor(members) {
      let total = 0
      await inRunBatches(collections, members, async (runIds) => {
        total += await stream.count(runIds)
      })
      return total
    },
  }
}

/** The ids of all runs on the threads, in batches, each with the threads of its runs. */
async function inRunBatches(
  collections: Pick<Collections, 'runs' | 'threads'>,
  { threadIds }: Members,
  work: (runIds: string[], threadIds: string[]) => Promise<unknown>,
): Promise<void> {
  await inBatches(threadIds, async (ids) => {
    const runIds = await endedRunStore(collections).idsInThreads(ids)
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
function loginFailures(collections: Pick<Collections, 'loginFailures' | 'users' | 'projects' | 'budgets'>): Store {
  const failures = loginFailureStore(collections)
  const keysOf = async ({ userIds }: Members) => (await traceStore(collections).emailsOf(userIds)).map(loginFailureKey)
  return {
    name: 'login_failures',
    phase: 'contents',
    collections: ['login_failures'],
    deleteFor: async (members) => {
      await failures.remove(await keysOf(members))
    },
    countFor: async (members) => failures.countKeys(await keysOf(members)),
  }
}
