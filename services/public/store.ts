import type { UpdateQuery } from 'mongoose'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { RunRecord } from '../../domain/records/run.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import type { Caller } from '../owner.ts'
import { type ListedRun, withoutInput } from '../stores/runs.ts'

/** Whose threads a request may name: those of an assistant's public callers, or the own ones of a project. */
export type ThreadOwner = AssistantRecord | Caller

const present = { deleting: { $ne: true } } as const

function ownOf(owner: ThreadOwner, threadId: string) {
  const whose =
    'projectId' in owner
      ? { public: false, user_id: owner.userId, project_id: owner.projectId }
      : { public: true, assistant_id: owner._id }
  return { _id: threadId, ...whose, ...present }
}

/** Statements on threads that a request of the assistants API names. */
export const namedThreadStore = ({ threads }: Pick<Collections, 'threads'>) => ({
  findOwned: async (owner: ThreadOwner, id: string) => threads.findOne(ownOf(owner, id)).lean<ThreadRecord>(),

  hasOwned: async (owner: ThreadOwner, id: string) => (await threads.exists(ownOf(owner, id))) !== null,

  /** The caller checks by the thread who may use it. */
  findInProject: async (projectId: string, id: string) =>
    threads.findOne({ _id: id, public: false, project_id: projectId, ...present }).lean<ThreadRecord>(),

  /** The changed thread; null if there is none, or it is not as it was read. */
  changeOwned: async (owner: ThreadOwner, id: string, change: UpdateQuery<ThreadRecord>, asRead: object = {}) =>
    threads
      .findOneAndUpdate({ ...ownOf(owner, id), ...asRead }, change, { returnDocument: 'after' })
      .lean<ThreadRecord>(),
})

/** Statements on the runs of public callers. */
export const publicRunStore = ({ runs }: Pick<Collections, 'runs'>) => ({
  /** Of an assistant; without one, the caller decides by it who may see the run. */
  find: async (own: { _id: string; assistant_id?: string }) => runs.findOne({ ...own, public: true }).lean<RunRecord>(),

  listInThread: (threadId: string, range: object, sort: Record<string, 1 | -1>) =>
    runs
      .find({ thread_id: threadId, ...range }, withoutInput)
      .sort(sort)
      .lean<ListedRun>(),
})

/** Statements on assistants that are used without an account: their access mode decides who may. */
export const openAssistantStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  findByTokenOfAny: async (hashes: string[]) =>
    assistants.findOne({ public_token_hashes: { $in: hashes }, ...present }).lean<AssistantRecord>(),

  isOriginKnownOfAny: async (origin: string) =>
    (await assistants.exists({ allowed_origins: origin, ...present })) !== null,
})
