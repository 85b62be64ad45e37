import { type OpenedAttachment, openAttachment } from '../attachments/open-attachment.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import type { RunInTransaction } from '../transactions.ts'
import type { CreateThread } from './create-thread.ts'
import { createFindMessages } from './find-messages.ts'
import type { ThreadLog } from './log.ts'
import type { ThreadStates } from './log-states.ts'
import type { PendingInput } from './pending-input.ts'
import { createThreadReads } from './read-threads.ts'
import { createShares } from './shares.ts'
import { createSides } from './sides.ts'
import { createThreadState } from './thread-state.ts'
import { createThreadWrites } from './write-threads.ts'
import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import { type Maker, createMakers } from '../makers.ts'

interface ThreadsDeps {
  collections: Pick<
    Collections,
    'projects' | 'threads' | 'assistants' | 'runs' | 'attachments' | 'checkpoints' | 'shares' | 'users' | 'folders'
  >
  transaction: RunInTransaction
  createThread: CreateThread
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
}

/** Operations on threads. One that the caller does not see is answered like a missing one: `not_found`. */
export function createThreads(deps: ThreadsDeps) {
  const { collections, transaction, createThread, log, states, pendingInput } = deps
  const reads = createThreadReads(collections)
  const { list, tags, read, readOwn, see, requireMade, requireContinuable, withStatus } = reads
  return {
    list,
    tags,
    shares: createShares({ collections, transaction, states, requireMade }),
    findMessages: createFindMessages(deps),
    authors: createAuthors(collections),
    read,
    readOwn,
    see,
    requireMade,
    requireContinuable,
    ...createThreadWrites({ collections, createThread, withStatus }),
    ...createThreadState({ reads, log, states, pendingInput }),
    ...createSides({ collections, transaction, reads, log, states, pendingInput }),

    async attachment(caller: Caller, threadId: string, attachmentId: string): Promise<OpenedAttachment> {
      await see(caller, threadId)
      return openAttachment(collections, threadId, attachmentId)
    },
  }
}

/** Who has said something in threads that a project sees, and who made them: for members only. */
function createAuthors(collections: Pick<Collections, 'users'>) {
  const makers = createMakers(collections)

  return async (
    { user_id: userId, created_by: maker = userId }: ThreadRecord,
    messages: Message[],
  ): Promise<Maker[]> => {
    const ids = messages.flatMap(({ type, data }) => (type === 'HumanMessage' ? (data.author_id ?? []) : []))
    return [...(await makers([maker, ...ids])).values()]
  }
}
