import { type OpenedAttachment, openAttachment } from '../attachments/open-attachment.ts'
import type { Collections } from '../collections.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { CreateThread } from './create-thread.ts'
import { createFindMessages } from './find-messages.ts'
import type { ThreadLog } from './log.ts'
import type { ThreadStates } from './log-states.ts'
import type { PendingInput } from './pending-input.ts'
import { createThreadReads } from './read-threads.ts'
import { createShares } from './shares.ts'
import { createThreadState } from './thread-state.ts'
import { createThreadWrites } from './write-threads.ts'

interface ThreadsDeps {
  collections: Pick<
    Collections,
    'projects' | 'threads' | 'assistants' | 'runs' | 'attachments' | 'checkpoints' | 'shares' | 'users'
  >
  transaction: RunInTransaction
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

/** Operations on threads. Another user's thread is answered like a missing one: `not_found`. */
export function createThreads(deps: ThreadsDeps) {
  const { collections, transaction, createThread, log, states, pendingInput } = deps
  const reads = createThreadReads(collections)
  const { list, tags, read, readOwn, withStatus } = reads
  return {
    list,
    tags,
    shares: createShares({ collections, transaction, states, readOwn }),
    findMessages: createFindMessages(deps),
    read,
    readOwn,
    ...createThreadWrites({ collections, createThread, withStatus }),
    ...createThreadState({ reads, log, states, pendingInput }),

    async attachment(userId: string, threadId: string, attachmentId: string): Promise<OpenedAttachment> {
      await readOwn(userId, threadId)
      return openAttachment(collections, threadId, attachmentId)
    },
  }
}
