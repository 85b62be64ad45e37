import type { ClientSession } from 'mongoose'
import {
  type DeletionCondition,
  type DeletionInput,
  type DeletionPhase,
  type DeletionTarget,
  type StoreCounts,
  hasAny,
} from '../../domain/contracts/deletion.ts'
import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { passwordResetContract } from '../../domain/contracts/password-reset.ts'
import { accountDeletedMail } from '../accounts/mails.ts'
import type { Billing } from '../billing/index.ts'
import type { Collections } from '../collections.ts'
import type { HandOver } from '../hand-over/index.ts'
import type { Mailer } from '../mailer.ts'
import type { Store } from '../owned-data/data-store.ts'
import { eraseAll, updateAll } from '../owned-data/erase-all.ts'
import { cancelRun } from '../runs/index.ts'
import { runStore } from '../stores/runs.ts'
import { userStore } from '../stores/users.ts'
import { countsInQuota, releaseQuota } from '../threads/create-thread.ts'
import type { RunInTransaction } from '../transactions.ts'
import { within } from '../within.ts'
import { type StopRunsDeps, stopRuns } from './stop-runs.ts'
import {
  membersOf,
  ownedBy,
  type OwnerCollections,
  deletedOwnerStore,
  deletionReceiptStore,
  setMarker,
} from './store.ts'

interface DeletionDeps extends StopRunsDeps {
  collections: Collections
  transaction: RunInTransaction
  stores: Store[]
  billing: Pick<Billing, 'endFor'>
  handOver: Pick<HandOver, 'ofDeletedAccount'>
  mailer: Pick<Mailer, 'send' | 'ping'>
}

/** A mail server that is silent holds up no deletion for longer. */
const mailLimitMs = 3000

/** The workflows of an account, besides those of its threads. */
const accountContracts = [emailVerificationContract, passwordResetContract]

export type Deletion = ReturnType<typeof createDeletion>

/**
 * The steps of a deletion. Each can be repeated and interrupted anywhere: the deletion marker stays set until the
 * end, contents are found by owners that are deleted after them, and the root is deleted last, in one transaction
 * with the receipt.
 */
export function createDeletion(deps: DeletionDeps) {
  const { collections, transaction, stores } = deps
  const receipts = deletionReceiptStore(collections)

  return {
    /** False if there is nothing to delete, or it has been deleted already. Counts what exists, for the receipt. */
    async mark(input: DeletionInput): Promise<boolean> {
      const known = await receipts.findOfAny(input.receiptId)
      if (known?.status === 'complete') return false
      // Before what the account holds is marked.
      const first = input.kind === 'account' ? () => handOverProjects(input) : undefined
      const owner = await setDeletionMarkers(deps, input, { condition: input.condition ?? {} }, first)
      if (owner === null) return false
      if (known !== null && hasAny(known.found)) return true
      const receipt = { kind: input.kind, subject_id: input.id, user_id: owner.userId, status: 'running' } as const
      await receipts.begin(input.receiptId, { ...receipt, found: await countAll(input), left: {} })
      return true
    },

    /** Ends the runs on the target's threads, and waits for their workflows to end. */
    async stop(input: DeletionInput): Promise<void> {
      const receipt = await receipts.findOfAny(input.receiptId)
      const since = new Date((receipt?.created_at ?? new Date()).getTime() - 60_000)
      await stopRuns(deps, await membersOf(collections, input), since)
      if (input.kind !== 'account') return
      await stopInChatsOfOthers(input.id)
      for (const contract of accountContracts)
        await deps.workflows.terminate(contract, { userId: input.id }, 'its account is being deleted')
    },

    /**
     * Ends what the account pays, before anything is removed, and counts it on the receipt. Throws while the payment
     * provider is unreachable; the receipt says meanwhile that the deletion waits for it.
     */
    async endPayments({ id, receiptId }: DeletionInput): Promise<void> {
      // Not for a user that a token has created again.
      if (!(await deletedOwnerStore(collections).isAccountDeletingOfAny(id))) return
      const ended = await deps.billing.endFor([id]).catch(async (error: unknown) => {
        await receipts.change(receiptId, { waiting_for: 'payment_provider' })
        throw error
      })
      await receipts.noteSubscriptions(receiptId, ended)
    },

    /** Removes the contents of one phase's stores and returns what is left there. */
    async erase(input: DeletionInput, phase: DeletionPhase): Promise<StoreCounts> {
      // Repeated, so that records are also marked that were created beside an earlier marker.
      if ((await setDeletionMarkers(deps, input, 'again')) === null) return {}
      const members = await membersOf(collections, input)
      const chosen = stores.filter((store) => store.phase === phase)
      for (const store of chosen) await store.deleteFor(members)
      const left = await countStores(chosen, input)
      if (phase === 'contents' || hasAny(left)) return left
      await removeOwnersBelow(deps, input)
      return withoutRoot(await countOwners(collections, input), input)
    },

    /** Removes the root and completes the receipt, in one transaction. Before, while its address is known, a mail says so. */
    async finish(input: DeletionInput, left: StoreCounts): Promise<void> {
      if (input.kind === 'account') await within(mailLimitMs, mailDeleted(input))
      await transaction(async (session) => {
        await removeRoot(collections, input, session)
        // The deletion has waited until no subscription was left.
        const ended: StoreCounts = input.kind === 'account' ? { subscriptions: 0 } : {}
        const complete = { status: 'complete', left: { ...left, ...ended }, completed_at: new Date() } as const
        await receipts.change(input.receiptId, complete, session)
      })
    },

    /** Leaves the deletion marker set and notes on the receipt what could not be removed. */
    async fail(input: DeletionInput, left: StoreCounts): Promise<void> {
      await receipts.change(input.receiptId, { status: 'failed', left })
    },
  }

  /** What becomes of shared projects is told on the receipt before it happens. */
  async function handOverProjects({ id, receiptId, sharedProjects }: DeletionInput): Promise<void> {
    await deps.handOver.ofDeletedAccount(id, sharedProjects, (outcome) => receipts.noteProject(receiptId, id, outcome))
  }

  /**
   * Once: a deletion does not wait for a mail server. Only to an address that its owner has confirmed, and not to a user
   * that a token has created again.
   */
  async function mailDeleted({ id, receiptId }: DeletionInput): Promise<void> {
    const receiver = await userStore(collections).findReceiverOfAny({ _id: id, verified: true, deleting: true })
    if (receiver?.email === undefined || deps.mailer.ping === undefined) return
    const { email: to, language } = receiver
    try {
      await deps.mailer.send(accountDeletedMail({ to, language, messageId: `deletion-${receiptId}` }))
    } catch (error) {
      // Its causes may name the address.
      const reason = error instanceof Error ? error.message : 'unknown'
      deps.onError(new Error(`no mail says that an account was deleted: ${reason}`))
    }
  }

  async function stopInChatsOfOthers(userId: string): Promise<void> {
    const found = await runStore(collections).listOpenKeys({ user_id: userId, in_chat_of_other: true })
    for (const run of found) await cancelRun(deps, run)
  }

  async function countAll(input: DeletionInput): Promise<StoreCounts> {
    return { ...(await countStores(stores, input)), ...(await countOwners(collections, input)) }
  }

  async function countStores(chosen: Store[], input: DeletionInput): Promise<StoreCounts> {
    const members = await membersOf(collections, input)
    const counts: StoreCounts = {}
    for (const store of chosen) counts[store.name] = await store.countFor(members)
    return counts
  }
}

const rootStore = {
  thread: 'threads',
  assistant: 'assistants',
  vector_store: 'vector_stores',
  project: 'projects',
  account: 'users',
} as const

function withoutRoot(counts: StoreCounts, { kind }: DeletionInput): StoreCounts {
  const name = rootStore[kind]
  return { ...counts, [name]: Math.max(0, (counts[name] ?? 0) - 1) }
}

interface OwnersDeps {
  collections: OwnerCollections
  transaction: RunInTransaction
}

/**
 * Sets the deletion marker on the target and everything below it, from the top down. A creation writes to its nearest
 * parent under the condition that the parent is not being deleted, so nothing can be created below after this. Returns
 * the owner, or null if there is nothing to delete or the condition does not hold. Safe to repeat. `first` is done
 * between the root and the rest. `again` only renews an existing marker, so that it never deletes a user that a token
 * has created again.
 */
export async function setDeletionMarkers(
  { collections, transaction }: OwnersDeps,
  target: DeletionTarget,
  how: { condition: DeletionCondition } | 'again',
  first?: () => Promise<void>,
): Promise<{ userId: string } | null> {
  const root = await deletedOwnerStore(collections).markRootOfAny(
    target,
    how === 'again' ? { deleting: true } : dueUnder(how.condition),
  )
  if (root === null) return null
  await first?.()
  const owned = await ownedBy(collections, target)
  const { projects, assistants, threads } = collections
  const open = { deleting: { $ne: true } } as const
  await updateAll(transaction, projects, { ...owned.projects, ...open }, markedProject)
  await updateAll(transaction, assistants, { ...owned.assistants, ...open }, setMarker)
  await updateAll(transaction, threads, { ...owned.threads, ...open }, setMarker)
  return root
}

/**
 * A project that is being deleted releases its name at once: a new `main` may be created before the deletion ends.
 */
const markedProject = [{ $set: { deleting: true, name: { $concat: ['$name', ' (deleted ', '$_id', ')'] } } }]

/** A clean-up deletes only users who still match when the marker is set. */
function dueUnder({ inactiveSince, unverifiedSince }: DeletionCondition): object {
  if (inactiveSince === undefined && unverifiedSince === undefined) return {}
  const condition = {
    ...(inactiveSince === undefined ? {} : { last_active_at: { $lt: new Date(inactiveSince) } }),
    ...(unverifiedSince === undefined ? {} : { verified: false, created_at: { $lt: new Date(unverifiedSince) } }),
  }
  return { $or: [{ deleting: true }, condition] }
}

const batchSize = 200
/** Only marked records: a user that a token created again after the deletion is another one. */
const marked = { deleting: true } as const

/** Removes all owners below the root, whose contents have been removed. Safe to repeat. */
async function removeOwnersBelow(deps: OwnersDeps, target: DeletionTarget): Promise<void> {
  const { collections, transaction } = deps
  const { assistants, projects, threads } = collections
  const owned = await ownedBy(collections, target)
  const notRoot = { _id: { $ne: target.id } }
  await removeThreads(deps, { $and: [owned.threads, target.kind === 'thread' ? notRoot : {}] })
  if (target.kind !== 'thread') {
    const references = {
      assistant_id: { $in: await deletedOwnerStore(collections).markedAssistantsOfAny(owned.assistants) },
    }
    await updateAll(transaction, threads, references, { $unset: { assistant_id: 1 } })
  }
  const below = (filter: object) => ({ $and: [filter, notRoot], ...marked })
  await eraseAll(transaction, assistants, below(owned.assistants))
  await eraseAll(transaction, projects, below(owned.projects))
}

/**
 * All owners of the target, including the root, marked or not: records that were created beside the marker count as
 * left.
 */
async function countOwners(collections: OwnerCollections, target: DeletionTarget): Promise<StoreCounts> {
  const userIds = target.kind === 'account' ? [target.id] : []
  return deletedOwnerStore(collections).countOfAny(await ownedBy(collections, target), userIds)
}

/**
 * Removes the root itself, within a transaction. False if it is gone already. Deleting a thread also decrements the
 * owner's thread count.
 */
async function removeRoot(
  collections: OwnerCollections,
  target: DeletionTarget,
  session: ClientSession,
): Promise<boolean> {
  const removed = await deletedOwnerStore(collections).removeRootOfAny(target, session)
  if (typeof removed === 'boolean') return removed
  const places = countsInQuota(removed) ? 1 : 0
  await releaseQuota(collections, { userId: removed.user_id, places }, session)
  return true
}

/** In batches, each in one transaction with the thread counter, so that the counter is exact after any crash. */
async function removeThreads({ collections, transaction }: OwnersDeps, filter: object): Promise<void> {
  const store = deletedOwnerStore(collections)
  for (;;) {
    const batch = await store.someThreadsOfAny(filter, batchSize)
    if (batch.length === 0) return
    await transaction(async (session) => {
      const here = await store.removeThreadsOfAny(batch, session)
      const owners = Map.groupBy(
        here.filter((thread) => countsInQuota(thread)),
        (thread) => thread.user_id,
      )
      for (const [userId, own] of owners) await releaseQuota(collections, { userId, places: own.length }, session)
    })
  }
}
