import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { ProjectRecord } from '../../domain/records/project.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import type { DeletionResult, DeletionWorkflows, OwnedTarget } from './deletion-workflows.ts'

interface DeletionRequestsDeps {
  collections: Pick<Collections, 'projects' | 'assistants' | 'threads' | 'receipts'>
  workflows: DeletionWorkflows
}

export interface ProjectDeletion {
  projectId: string
  assistants: number
  threads: number
  /** Undefined when the caller has to confirm first. */
  result: DeletionResult | undefined
}

export type DeletionRequests = ReturnType<typeof createDeletionRequests>

/** What callers may have deleted. Asking again for what is being deleted joins the deletion that is under way. */
export function createDeletionRequests({ collections, workflows }: DeletionRequestsDeps) {
  const { projects, assistants, threads, receipts } = collections

  return {
    async deleteThread(userId: string, threadId: string): Promise<DeletionResult> {
      const thread = await threads.findOne({ _id: threadId, user_id: userId }).lean<ThreadRecord>()
      if (thread === null) throw new AppError('not_found', 'There is no such thread.')
      return run({ kind: 'thread', id: threadId, userId, projectId: thread.project_id })
    },

    async deleteAssistant(userId: string, assistantId: string): Promise<DeletionResult> {
      const assistant = await assistants.findOne({ _id: assistantId }).lean<AssistantRecord>()
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      if (assistant.user_id !== userId) throw new AppError('forbidden', 'This assistant belongs to another user.')
      return run({ kind: 'assistant', id: assistantId, userId, projectId: assistant.project_id })
    },

    /** Deletes a project; one that holds something only when the caller confirms. */
    async deleteProject(userId: string, projectId: string, confirm: boolean): Promise<ProjectDeletion> {
      const project = await projects.findOne({ _id: projectId }).lean<ProjectRecord>()
      if (project === null) throw new AppError('not_found', 'There is no such project.')
      if (project.user_id !== userId) throw new AppError('forbidden', 'This project belongs to another user.')
      const [assistantCount, threadCount] = await Promise.all([
        assistants.countDocuments({ project_id: projectId }),
        threads.countDocuments({ project_id: projectId }),
      ])
      const counts = { projectId, assistants: assistantCount, threads: threadCount }
      if (!confirm && !project.deleting && assistantCount + threadCount > 0) return { ...counts, result: undefined }
      return { ...counts, result: await run({ kind: 'project', id: projectId, userId }) }
    },

    /** `confirmation` is the account's e-mail address; an account without one is confirmed by its id. */
    async deleteAccount(user: UserRecord, confirmation: string): Promise<DeletionResult> {
      const expected = user.email ?? user._id
      if (confirmation.trim().toLowerCase() !== expected.toLowerCase()) {
        throw new AppError('bad_request', "The confirmation is not this account's e-mail address.")
      }
      return run({ kind: 'account', id: user._id, userId: user._id })
    },

    /** The proof of a deletion, for who owned what was deleted. */
    async receiptOf(userId: string, receiptId: string): Promise<ReceiptRecord> {
      return found(await receipts.findOne({ _id: receiptId, user_id: userId }).lean<ReceiptRecord>())
    },

    /** The proof of any deletion, for operators. */
    receipt: async (receiptId: string): Promise<ReceiptRecord> =>
      found(await receipts.findOne({ _id: receiptId }).lean<ReceiptRecord>()),
  }

  async function run(target: OwnedTarget): Promise<DeletionResult> {
    const result = await workflows.run(target)
    if (result.status === 'complete') return result
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
