import {
  type DeletionInput,
  type DeletionResult,
  type OwnedTarget,
  type SharedProjects,
  deletionContract,
} from '../../domain/contracts/deletion.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { ownAssistantStore } from '../assistants/store.ts'
import type { Collections } from '../collections.ts'
import type { HandOver } from '../hand-over/index.ts'
import { type Caller, type Grouped, type Owner, owns, requireRole } from '../owner.ts'
import { requireMade } from '../threads/read-threads.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import { deletionReceiptStore, requestedStore } from './store.ts'

interface DeletionRequestsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'threads' | 'receipts'>
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  handOver: Pick<HandOver, 'withoutOtherOwner'>
  /** How long a request waits for the end. */
  waitMs: number
}

interface ProjectDeletion {
  projectId: string
  assistants: number
  threads: number
  /** Undefined if the caller has to confirm first. */
  result: DeletionResult | undefined
}

/** Deletions that callers can request. A repeated request joins the deletion that is under way. */
export function createDeletionRequests({ collections, workflows, waitMs, handOver }: DeletionRequestsDeps) {
  const store = requestedStore(collections)
  const assistants = ownAssistantStore(collections)
  const receipts = deletionReceiptStore(collections)

  return {
    /** Of the caller's own thread: others may read it, or even continue it, and not delete it. */
    async deleteThread(caller: Caller, threadId: string): Promise<DeletionResult> {
      const thread = requireMade(caller, await store.findThreadOfAny(threadId))
      return run({ kind: 'thread', id: threadId, userId: caller.userId, projectId: thread.project_id })
    },

    async deleteAssistant(owner: Owner, assistantId: string): Promise<DeletionResult> {
      const assistant = await assistants.findAlsoDeletingOfAny(assistantId)
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      if (!owns(owner, assistant)) throw new AppError('forbidden', 'This assistant belongs to another user.')
      return run({ kind: 'assistant', id: assistantId, userId: assistant.user_id, projectId: assistant.project_id })
    },

    /** Deletes a vector store of the project with its entries; the files themselves stay. */
    async deleteVectorStore(userId: string, projectId: string, storeId: string): Promise<DeletionResult> {
      if (!(await store.hasVectorStore(projectId, storeId)))
        throw new AppError('not_found', 'There is no such vector store.')
      return run({ kind: 'vector_store', id: storeId, userId, projectId })
    },

    /** Deletes a project. If it is not empty, the caller must confirm. */
    async deleteProject(user: Grouped, projectId: string, confirm: boolean): Promise<ProjectDeletion> {
      const project = await store.findProjectOfAny(projectId)
      if (project === null) throw new AppError('not_found', 'There is no such project.')
      requireRole(project, user, 'owner')
      const [assistantCount, threadCount] = await Promise.all([
        assistants.countInProject(projectId),
        store.countThreads(projectId),
      ])
      const counts = { projectId, assistants: assistantCount, threads: threadCount }
      if (!confirm && !project.deleting && assistantCount + threadCount > 0) return { ...counts, result: undefined }
      return { ...counts, result: await run({ kind: 'project', id: projectId, userId: project.user_id }) }
    },

    /**
     * `confirmation` is the account's e-mail address; an account without one is confirmed by its id. Throws `conflict`
     * without an answer to what becomes of projects that others use and of which nobody else is an owner.
     */
    async deleteAccount(
      user: UserRecord,
      confirmation: string,
      sharedProjects?: SharedProjects,
    ): Promise<DeletionResult> {
      const expected = user.email ?? user._id
      if (confirmation.trim().toLowerCase() !== expected.toLowerCase()) {
        throw new AppError('bad_request', "The confirmation is not this account's e-mail address.")
      }
      const lonely = sharedProjects === undefined && !user.deleting ? await handOver.withoutOtherOwner(user._id) : []
      if (lonely.length > 0) throw withoutOwner(lonely)
      const choice = sharedProjects === undefined ? {} : { sharedProjects }
      return run({ kind: 'account', id: user._id, userId: user._id, ...choice })
    },

    /** The receipt of a deletion, for the owner of what was deleted. */
    async receiptOf(userId: string, receiptId: string): Promise<ReceiptRecord> {
      return found(await receipts.findOwned(userId, receiptId))
    },

    /** The receipt of any deletion, for operators. */
    receipt: async (receiptId: string): Promise<ReceiptRecord> => found(await receipts.findOfAny(receiptId)),
  }

  /**
   * Starts a deletion, or joins the one that is under way, and waits for its end for a limited time. Throws
   * `internal` if it failed because something could not be removed.
   */
  async function run(target: OwnedTarget & Pick<DeletionInput, 'sharedProjects'>): Promise<DeletionResult> {
    await workflows.start(deletionContract, { ...target, receiptId: newId() })
    const end = await workflows.result(deletionContract, target, { waitMs })
    if (end.status === 'completed') return { status: 'complete', receiptId: end.result.receiptId }
    if (end.status === 'failed') {
      const message = 'The deletion could not be completed. What is left stays closed; an operator has been told.'
      throw new AppError('internal', message, { cause: end.cause })
    }
    const newest = await receipts.newestOf(target.id)
    return { status: 'pending', receiptId: newest?._id }
  }
}

const namedAtOnce = 10

function withoutOwner(projects: ProjectRecord[]): AppError {
  const names = projects.slice(0, namedAtOnce).map(({ name }) => name)
  const rest = projects.length > namedAtOnce ? ` and ${projects.length - namedAtOnce} more` : ''
  return new AppError(
    'conflict',
    `Others use these projects, and only you are their owner: ${names.join(', ')}${rest}. Say with shared_projects whether to "hand_over" them to the member who may do most, or to "delete" them; or make somebody an owner first.`,
  )
}

function found(receipt: ReceiptRecord | null): ReceiptRecord {
  if (receipt === null) throw new AppError('not_found', 'There is no such receipt.')
  return receipt
}
