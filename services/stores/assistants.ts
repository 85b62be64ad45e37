import type { ClientSession } from 'mongoose'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type Named, namesIn } from './named.ts'
import { isMatched } from './results.ts'

/** The assistants of a project, or one, of an account. */
type Counted = Pick<AssistantRecord, 'user_id'> & Partial<Pick<AssistantRecord, '_id' | 'project_id'>>

export type AssistantLocation = Pick<AssistantRecord, '_id' | 'user_id' | 'project_id'>

/**
 * Selects assistants among the records of the collection: only vector stores and gateways name their kind. The version
 * before asks so, too, and runs beside a newer one while a service is upgraded.
 */
export const onlyAssistants = { kind: { $exists: false } } as const

/** Statements on `assistants`, which holds vector stores and gateways too. */
export const assistantStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  /** Without a user: for operators. */
  namesOf: (ids: string[], userId: string | undefined): Promise<Named[]> => namesIn(assistants, ids, userId),

  /** Also one that is being deleted. */
  hasOwned: async (userId: string, id: string) => (await assistants.exists({ _id: id, user_id: userId })) !== null,

  /** It came with an archive, which says when it was created. */
  noteImported: async (userId: string, id: string, created: Date) =>
    assistants.updateOne({ _id: id, user_id: userId }, { $set: { created_at: created, imported_at: new Date() } }),

  findOwned: async (userId: string, id: string) =>
    assistants.findOne({ _id: id, user_id: userId }).lean<AssistantRecord>(),

  countOwned: async (userId: string) => assistants.countDocuments({ user_id: userId, ...onlyAssistants }),

  /** The ids of those that are being deleted. */
  deletingIdsOf: async (userId: string) => assistants.distinct('_id', { user_id: userId, deleting: true }),

  /** For a run, which names it. Also one that is being deleted. */
  findOfAny: async (id: string) => assistants.findById(id).lean<AssistantRecord>(),

  nameOfAny: async (id: string) => (await assistants.findById(id, { name: 1 }).lean<Named>())?.name,

  isPresentOfAny: async (id: string) => (await assistants.exists({ _id: id, deleting: { $ne: true } })) !== null,

  /** For workers: whether anything may be done for it. */
  isUsableOfAny: async (id: string) =>
    (await assistants.exists({ _id: id, deleting: { $ne: true }, suspended: { $ne: true } })) !== null,

  /** The same with its place; the caller checks whose it is. */
  findUsableLocationOfAny: async (id: string) =>
    assistants
      .findOne({ _id: id, deleting: { $ne: true }, suspended: { $ne: true } }, { user_id: 1, project_id: 1 })
      .lean<AssistantLocation>(),

  /** A write that conflicts with the deletion marker. False if it is being deleted. */
  lock: async (userId: string, id: string, session: ClientSession) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, user_id: userId, deleting: { $ne: true } },
        { $inc: { holds: 1 } },
        { session },
      ),
    ),

  /** For workers: in which account and project it is. */
  findLocationOfAny: async (id: string) =>
    assistants.findById(id, { user_id: 1, project_id: 1 }).lean<AssistantLocation>(),

  /** From now on, a run searches its files. */
  noteHasFiles: async (id: string) =>
    assistants.updateOne({ _id: id, has_files: { $ne: true } }, { $set: { has_files: true } }),

  /** Those whose runs a budget counts. */
  listCounted: async (counted: Counted) => assistants.find(counted).lean<AssistantRecord[]>(),

  /** Their runs count in this budget from now on. */
  addBudget: async (counted: Counted, budget: string) =>
    assistants.updateMany(counted, { $addToSet: { budgets: budget } }),

  /** Whose it is, and whether everybody may use it: the caller decides by that. */
  findAccessOfAny: async (id: string) =>
    assistants
      .findOne({ _id: id, deleting: { $ne: true }, ...onlyAssistants }, { user_id: 1, project_id: 1, public: 1 })
      .lean<Pick<AssistantRecord, 'user_id' | 'project_id' | 'public'>>(),

  /** For a restored backup: when it was created, and imported. */
  madeOfAny: async (id: string) =>
    assistants
      .findById(id, { created_at: 1, imported_at: 1 })
      .lean<Pick<AssistantRecord, 'created_at' | 'imported_at'>>(),

  async idsInProject(projectId: string): Promise<string[]> {
    return (await assistants.find({ project_id: projectId }, { _id: 1 }).lean<Named[]>()).map(({ _id }) => _id)
  },

  namesInProject: async (projectId: string, ids: string[]) =>
    assistants.find({ _id: { $in: ids }, project_id: projectId }, { name: 1 }).lean<Named[]>(),

  hasSchedulesApproved: async (userId: string, id: string) =>
    (await assistants.exists({ _id: id, user_id: userId, schedules_approved: true })) !== null,

  approveSchedules: async (userId: string, id: string) =>
    assistants.updateOne({ _id: id, user_id: userId }, { $set: { schedules_approved: true } }),
})
