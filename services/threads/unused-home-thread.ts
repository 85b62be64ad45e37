import type { ProjectRecord } from '../../domain/records/project.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Caller } from '../assistants/write-assistants.ts'
import type { Collections } from '../collections.ts'

/**
 * The thread that the first login made and names, while nobody has used it: neither a message nor a run, and not
 * changed. Lists leave it out, so that a new account shows no empty chat; by its id it is like any other thread.
 */
export function createUnusedHomeThread({
  projects,
  threads,
  runs,
}: Pick<Collections, 'projects' | 'threads' | 'runs'>) {
  return async ({ userId, projectId }: Caller): Promise<string | undefined> => {
    const own = { user_id: userId }
    const project = await projects.findOne({ _id: projectId, ...own }, { default_thread: 1 }).lean<ProjectRecord>()
    const threadId = project?.default_thread?.id
    if (threadId === undefined) return undefined
    const thread = await threads.findOne({ _id: threadId, ...own }).lean<ThreadRecord>()
    if (thread === null || thread.last_seq !== undefined) return undefined
    if (thread.updated_at.getTime() !== thread.created_at.getTime()) return undefined
    // The input of a first run enters the thread with the answer.
    return (await runs.exists({ thread_id: threadId, ...own })) === null ? threadId : undefined
  }
}
