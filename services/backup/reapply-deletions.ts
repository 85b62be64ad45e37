import { sourceDeletionContract } from '../../domain/contracts/crawl.ts'
import { deletionContract } from '../../domain/contracts/deletion.ts'
import { fileDeletionContract } from '../../domain/contracts/file-deletion.ts'
import { newId } from '../../domain/ids.ts'
import { projectOf } from '../../domain/knowledge/project-files.ts'
import type { ReceiptRecord } from '../../domain/records/receipt.ts'
import type { Collections } from '../collections.ts'
import { deletionOf } from '../knowledge/files.ts'
import { deletionOfSource } from '../sources/delete-source.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { projectStore } from '../stores/projects.ts'
import { receiptStore } from '../stores/receipts.ts'
import { sourceStore } from '../stores/sources.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import type { WorkflowClient } from '../workflow-client.ts'

interface ReapplyDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads' | 'files' | 'receipts' | 'sources'>
  workflows: Pick<WorkflowClient, 'start' | 'result'>
  /** How long to wait for the end of one deletion. */
  waitMs: number
}

export type Receipt = Pick<ReceiptRecord, '_id' | 'kind' | 'subject_id' | 'user_id' | 'created_at'>

/** `gone`: nothing to delete. `newer`: a record with the same id was created after the deletion. */
type Reapplied = 'deleted' | 'gone' | 'newer' | 'pending'

/**
 * A restore brings back what was deleted after the backup was taken. The receipts of these deletions, kept
 * apart from the database, say what to delete again. Safe to repeat.
 */
export function createReapplyDeletions({ collections, workflows, waitMs }: ReapplyDeps) {
  return async function reapply(receipt: Receipt): Promise<Reapplied> {
    const { kind, subject_id: id, user_id: userId } = receipt
    const subject = await subjectOf(receipt)
    if (subject === null) return 'gone'
    // What was imported again keeps the time of its first creation.
    if ((subject.imported_at ?? subject.created_at) > receipt.created_at) return 'newer'
    if (kind === 'file') {
      const file = await fileStore(collections).findOfAny(id)
      if (!file) return 'gone'
      const { assistant_id: assistantId } = file
      const ofProject = projectOf(assistantId)
      const assistant = ofProject === undefined && (await assistantStore(collections).findLocationOfAny(assistantId))
      const projectId = ofProject ?? (assistant || undefined)?.project_id ?? ''
      await workflows.start(fileDeletionContract, { ...deletionOf(file), userId, projectId })
      return outcome(await workflows.result(fileDeletionContract, { fileId: id }, { waitMs }))
    }
    if (kind === 'source') {
      const source = await sourceStore(collections).findOfAny(id)
      if (!source) return 'gone'
      await workflows.start(sourceDeletionContract, deletionOfSource(source))
      return outcome(await workflows.result(sourceDeletionContract, { sourceId: id }, { waitMs }))
    }
    const hasReceipt = await receiptStore(collections).existsOfAny(receipt._id)
    const receiptId = hasReceipt ? newId() : receipt._id
    await workflows.start(deletionContract, { kind, id, userId, receiptId })
    return outcome(await workflows.result(deletionContract, { kind, id }, { waitMs }))
  }

  async function subjectOf({
    kind,
    subject_id: id,
  }: Receipt): Promise<{ created_at: Date; imported_at?: Date } | null> {
    switch (kind) {
      case 'account':
        return userStore(collections).find(id)
      case 'project':
        return projectStore(collections).madeOfAny(id)
      case 'assistant':
      case 'vector_store':
        return assistantStore(collections).madeOfAny(id)
      case 'thread':
        return threadStore(collections).madeOfAny(id)
      case 'file':
        return fileStore(collections).findOfAny(id)
      case 'source':
        return sourceStore(collections).findOfAny(id)
    }
  }
}

function outcome(end: { status: 'completed' | 'failed' | 'running' | 'not_found'; cause?: Error }): Reapplied {
  if (end.status === 'failed') throw new Error('the deletion failed', { cause: end.cause })
  return end.status === 'completed' ? 'deleted' : 'pending'
}
