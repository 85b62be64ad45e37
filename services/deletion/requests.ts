import { type DeletionResult, type OwnedTarget, deletionContract } from '../../domain/contracts/deletion.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { type AssistantRecord, isAssistant } from '../../domain/records/assistant.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { WorkflowClient } from '../workflow-client.ts'
import type { Collections } from '../collections.ts'
import { type Owner, owns } from '../owner.ts'
import { requireRole } from '../membership.ts'

interface DeletionRequestsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'threads' | 'receipts'>
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  /** How long a request waits for the end. */
  waitMs: number
}

export interface ProjectDeletion {
  projectId: string
  assistants: number
  threads: number
  /** Undefined if the caller has to confirm first. */
  result: DeletionResult | undefined
}

/** Deletions that callers can request. A repeated request joins the deletion that is under way. */
export function createDeletionRequests({ collections, workflows, waitMs }: DeletionRequestsDeps) {
  const { projects, assistants, threads, receipts } = collections

  return {
    async deleteThread(userId: string, threadId: string): Promise<DeletionResult> {
      const thread = await threads.findOne({ _id: threadId, user_id: userId }).lean<ThreadRecord>()
      if (thread === null) throw new AppError('not_found', 'There is no such thread.')
      return run({ kind: 'thread', id: threadId, userId, projectId: thread.project_id })
    },

    async deleteAssistant(owner: Owner, assistantId: string): Promise<DeletionResult> {
      const assistant = await assistants.findOne({ _id: assistantId, ...isAssistant }).lean<AssistantRecord>()
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      if (!owns(owner, assistant)) throw new AppError('forbidden', 'This assistant belongs to another user.')
      return run({ kind: 'assistant', id: assistantId, userId: assistant.user_id, projectId: assistant.project_id })
    },

    /** Deletes a vector store of the project with its entries; the files themselves stay. */
    async deleteVectorStore(userId: string, projectId: string, storeId: string): Promise<DeletionResult> {
      const own = { _id: storeId, project_id: projectId, kind: 'vector_store' as const }
      if ((await assistants.exists(own)) === null) throw new AppError('not_found', 'There is no such vector store.')
      return run({ kind: 'vector_store', id: storeId, userId, projectId })
    },

    /** Deletes a project. If it is not empty, the caller must confirm. */
    async deleteProject(userId: string, projectId: string, confirm: boolean): Promise<ProjectDeletion> {
      const project = await projects.findOne({ _id: projectId }).lean<ProjectRecord>()
      if (project === null) throw new AppError('not_found', 'There is no such project.')
      requireRole(project, userId, 'owner')
      const [assistantCount, threadCount] = await Promise.all([
        assistants.countDocuments({ project_id: projectId, ...isAssistant }),
        threads.countDocuments({ project_id: projectId }),
      ])
      const counts = { projectId, assistants: assistantCount, threads: threadCount }
      if (!confirm && !project.deleting && assistantCount + threadCount > 0) return { ...counts, result: undefined }
      return { ...counts, result: await run({ kind: 'project', id: projectId, userId: project.user_id }) }
    },

    /** `confirmation` is the account's e-mail address; an account without one is confirmed by its id. */
    async deleteAccount(user: UserRecord, confirmation: string): Promise<DeletionResult> {
      const expected = user.email ?? user._id
      if (confirmation.trim().toLowerCase() !== expected.toLowerCase()) {
        throw new AppError('bad_request', "The confirmation is not this account's e-mail address.")
      }
      return run({ kind: 'account', id: user._id, userId: user._id })
    },

    /** The receipt of a deletion, for the owner of what was deleted. */
    async receiptOf(userId: string, receiptId: string): Promise<ReceiptRecord> {
      return found(await receipts.findOne({ _id: receiptId, user_id: userId }).lean<ReceiptRecord>())
    },

    /** The receipt of any deletion, for operators. */
    receipt: async (receiptId: string): Promise<ReceiptRecord> =>
      found(await receipts.findOne({ _id: receiptId }).lean<ReceiptRecord>()),
  }

  /**
   * Starts a deletion, or joins the one that is under way, and waits for its end for a limited time. Throws
   * `internal` if it failed because something could not be removed.
   */
  async function run(target: OwnedTarget): Promise<DeletionResult> {
    await workflows.start(deletionContract, { ...target, receiptId: newId() })
    const end = await workflows.result(deletionContract, target, { waitMs })
    if (end.status === 'completed') return { status: 'complete', receiptId: end.result.receiptId }
    if (end.status === 'failed') {
      const message = 'The deletion could not be completed. What is left stays closed; an operator has been told.'
      throw new AppError('internal', message, { cause: end.cause })
    }
    const newest = await receipts
      .findOne({ subject_id: target.id })
      .sort({ created_at: -1, _id: -1 })
      .lean<ReceiptRecord>()
    return { status: 'pending', receiptId: newest?._id }
  }
}

function found(receipt: ReceiptRecord | null): ReceiptRecord {
  if (receipt === null) throw new AppError('not_found', 'There is no such receipt.')
  return receipt
}
