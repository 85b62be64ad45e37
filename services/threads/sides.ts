import { createMessageLine } from '../../domain/conversation.ts'
import { AppError } from '../../domain/errors.ts'
import { derivedId, newId } from '../../domain/ids.ts'
import { type Message, authoredBy } from '../../domain/messages.ts'
import { type ThreadRecord, threadLimits } from '../../domain/records/thread.ts'
import { copyAttachments } from '../attachments/copy-attachments.ts'
import { type Received, withAttachments } from '../attachments/receive-content.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { StorageQuota } from '../knowledge/storage-quota.ts'
import type { Caller } from '../owner.ts'
import { threadStore } from '../stores/threads.ts'
import type { RunInTransaction } from '../transactions.ts'
import { threadRecordOf } from './create-thread.ts'
import type { ThreadStates } from './log-states.ts'
import type { PendingInput, ThreadLog } from './log.ts'
import { type ThreadReads, type ThreadWithStatus, missing, requireMade } from './read-threads.ts'

interface SidesDeps {
  collections: Pick<Collections, 'threads' | 'attachments'>
  transaction: RunInTransaction
  reads: Pick<ThreadReads, 'statusOf'>
  log: Pick<ThreadLog, 'append' | 'find'>
  states: ThreadStates
  pendingInput: Pick<PendingInput, 'missingFromLog'>
  storageQuota: Pick<StorageQuota, 'requireRoomForParts'>
}

/** Characters of the id of a run, with which the ids of its answers begin. */
const runIdLength = 36

/**
 * Threads beside another one, in which another model answers the same question at the same time, because the runs of one
 * thread wait for each other. Their answers become versions in the thread. They are not listed, do not count, and are
 * deleted with it.
 */
export function createSides({ collections, transaction, reads, log, states, pendingInput, storageQuota }: SidesDeps) {
  const threads = threadStore(collections)

  async function ownThread(caller: Caller, threadId: string): Promise<ThreadRecord> {
    return requireMade(caller, await threads.findOfAny(threadId))
  }

  return {
    /**
     * Makes a thread with what was said in the caller's own thread up to a message; null for its beginning. Throws
     * `conflict` for a message that the thread does not have, `forbidden` for a thread that may have none beside it.
     */
    async createSide(caller: Caller, threadId: string, after: string | null): Promise<ThreadWithStatus> {
      const above = await ownThread(caller, threadId)
      if (above.public || above.counted === false || above.asked_from !== undefined)
        throw new AppError('forbidden', 'Only chats of persons have others beside them.')
      const said = after === null ? [] : await saidUntil(above, after)
      const copied = await copyOf(above, above._id, said)
      const side = threadRecordOf({
        id: newId(),
        userId: above.user_id,
        projectId: above.project_id,
        name: above.name,
        metadataJson: '{}',
        assistantId: above.assistant_id,
        public: false,
        counted: false,
        parentThreads: [above._id],
        folderId: above.folder_id,
        ...(above.expires_at === undefined ? {} : { expiresAt: above.expires_at }),
      })
      await transaction(async (session) => {
        if (!(await threads.countSide(threadId, threadLimits.sides, session)))
          throw new AppError('forbidden', `A chat has at most ${threadLimits.sides} comparisons.`)
        await threads.addNew(side, session)
      })
      if (said.length > 0) await addTo(side, copied)
      return { ...side, status: 'idle' }
    },

    /**
     * Adds the newest answer of a side to the thread, with its question, as another version of what follows a message. Safe
     * to repeat. Throws `conflict` while the answer is being written, or if there is none.
     */
    async takeSide(caller: Caller, threadId: string, sideId: string, after: string | null): Promise<void> {
      const [above, side] = await Promise.all([ownThread(caller, threadId), ownThread(caller, sideId)])
      if (side.asked_from?.at(-1) !== above._id) throw missing()
      const status = await reads.statusOf(side)
      if (status === 'busy' || status === 'interrupted')
        throw new AppError('conflict', 'The answer is still being written.')
      const { messages = [], checkpoint } = (await states.state(side)) ?? {}
      const turn = messages.slice(messages.findLastIndex(({ type }) => type === 'HumanMessage'))
      const [question, ...answers] = turn
      const answer = answers.findLast(({ type }) => type === 'AIMessage')
      // What was copied into it from the thread is no answer of its own.
      if (question?.type !== 'HumanMessage' || answer === undefined || checkpoint?.source === 'update')
        throw new AppError('conflict', 'There is no answer to take.')
      const runId = answer.data.id.slice(0, runIdLength)
      const sideQuestion: Message = { ...question, data: { ...question.data, id: `${runId}-question`, after } }
      const known = above.visibility === undefined ? [sideQuestion] : authoredBy(caller.userId, [sideQuestion])
      const entryId = derivedId(['side', side._id, runId], runId)
      if ((await log.find(threadId, entryId)) !== null) return
      await addTo(above, await copyOf(above, side._id, [...known, ...answers]), entryId)
    },
  }

  /** The conversation that ends with a message, as far as it fits into one answer. */
  async function saidUntil(thread: ThreadRecord, last: string): Promise<Message[]> {
    const { messages = [] } = (await states.state(thread, { allVersions: true })) ?? {}
    const line = createMessageLine()
    for (const message of messages) line.add(message)
    const index = line.positionOf(last)
    if (index === undefined) throw new AppError('conflict', 'The chat has no such message: reload it.')
    return line.positions(index).flatMap((at) => messages[at] ?? [])
  }

  /** Messages of a thread with copies of their files, for which the owner of another one has room. */
  async function copyOf({ user_id: userId }: ThreadRecord, from: string, messages: Message[]): Promise<Received> {
    const copied = await copyAttachments(collections, from, messages)
    await storageQuota.requireRoomForParts(userId, copied.attachments)
    return copied
  }

  async function addTo(thread: ThreadRecord, copied: Received, id = newId()): Promise<void> {
    const input = await pendingInput.missingFromLog(thread._id)
    const owner = { thread_id: thread._id, user_id: thread.user_id, created_at: new Date() }
    const work = () => log.append(thread._id, { id, messages: copied.input, source: 'update', input })
    await withAttachments(collections, owner, { given: copied.attachments, work }).catch(async (error: unknown) => {
      // Another request was quicker.
      if (!isDuplicateKey(error) || (await log.find(thread._id, id)) === null) throw error
    })
  }
}
