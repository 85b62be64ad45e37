import { projectStore } from '../stores/projects.ts'
import { runStore } from '../stores/runs.ts'
import { threadStore } from '../stores/threads.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'

/**
 * The thread that the first login made and names, while nobody has used it: neither a message nor a run, and not
 * changed. Lists leave it out, so that a new account shows no empty chat; by its id it is like any other thread.
 */
export function createUnusedHomeThread(collections: Pick<Collections, 'projects' | 'threads' | 'runs'>) {
  return async ({ userId, projectId }: Caller): Promise<string | undefined> => {
    const threadId = await projectStore(collections).defaultThreadOf(userId, projectId)
    if (threadId === undefined) return undefined
    const thread = await threadStore(collections).findOwned(userId, threadId)
    if (thread === null || thread.last_seq !== undefined) return undefined
    if (thread.updated_at.getTime() !== thread.created_at.getTime()) return undefined
    // The input of a first run enters the thread with the answer.
    return (await runStore(collections).hasAny(userId, threadId)) ? undefined : threadId
  }
}
