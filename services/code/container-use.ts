import { containerId } from '../../domain/container-ids.ts'
import { attachmentLimits } from '../../domain/content-parts.ts'
import { AppError } from '../../domain/errors.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { threadStore } from '../stores/threads.ts'

export const containerLimits = {
  /** Of one user, at once. */
  containers: 50,
  files: 100,
  fileBytes: attachmentLimits.user.bytes,
  allBytes: 64 * 1024 * 1024,
  minutes: 20,
} as const

/** A container whose session an execution continues. */
export interface ContainerUse {
  /** The id of its thread. */
  id: string
  /** What was executed last in it. */
  executed: string | undefined
  /** Notes what was executed. */
  finish(key: string): Promise<void>
}

/** Moves the expiry of a container. Throws `not_found` for one that has expired. */
export async function useContainer(
  collections: Pick<Collections, 'threads'>,
  caller: Caller,
  threadId: string,
  change: object = {},
): Promise<ThreadRecord> {
  const now = new Date()
  const threads = threadStore(collections)
  const found = await threads.findContainer(caller, threadId)
  const minutes = found?.container?.minutes
  if (minutes === undefined) throw expired(threadId)
  const $set = { updated_at: now, expires_at: new Date(now.getTime() + minutes * 60_000), ...change }
  const used = await threads.changeContainer(caller, threadId, $set)
  if (used === null) throw expired(threadId)
  return used
}

export async function continueContainer(
  collections: Pick<Collections, 'threads'>,
  caller: Caller,
  threadId: string,
): Promise<ContainerUse> {
  const { container } = await useContainer(collections, caller, threadId)
  return {
    id: threadId,
    executed: container?.executed,
    async finish(key) {
      await useContainer(collections, caller, threadId, { 'container.executed': key })
    },
  }
}

function expired(threadId: string): AppError {
  return new AppError('not_found', `The container ${containerId(threadId)} has expired or was deleted.`)
}
