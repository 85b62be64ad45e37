import type { ClientSession, UpdateQuery } from 'mongoose'
import type { AssistantRecord, ReembeddingRecord, VectorStoreRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { type PageQuery, storedPage } from '../cursor-page.ts'
import type { Page } from '../page.ts'
import type { AssistantLocation } from './assistants.ts'
import { isMatched } from './results.ts'

const present = { kind: 'vector_store', deleting: { $ne: true } } as const
const notDeleting = { deleting: { $ne: true } } as const
const recordBytes = 16_000

/** Statements on the vector stores among `assistants`. They belong to their project. */
export const vectorStoreStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  findOwned: async (projectId: string, id: string) =>
    assistants.findOne({ _id: id, project_id: projectId, ...present }).lean<VectorStoreRecord>(),

  findOfUser: async (userId: string, id: string) =>
    assistants.findOne({ _id: id, user_id: userId, ...present }).lean<VectorStoreRecord>(),

  /** For the retention: those whose time is over. */
  listExpiredOfAny: async (now: Date, most: number) =>
    assistants
      .find({ kind: 'vector_store', 'store.expires_at': { $lt: now } }, { user_id: 1, project_id: 1 })
      .limit(most)
      .lean<AssistantLocation[]>(),

  /** Marks one for deletion; false if a search in the meantime has given it more time. */
  markExpiredOfAny: async (id: string, now: Date) =>
    isMatched(
      await assistants.updateOne(
        { _id: id, kind: 'vector_store', 'store.expires_at': { $lt: now } },
        { $set: { deleting: true }, $inc: { holds: 1 } },
      ),
    ),

  listOwned: async (projectId: string, ids: string[]) =>
    assistants.find({ _id: { $in: ids }, project_id: projectId, ...present }).lean<VectorStoreRecord[]>(),

  page: (projectId: string, query: PageQuery): Promise<Page<VectorStoreRecord>> => {
    const own = { project_id: projectId, ...present }
    return storedPage(query, {
      find: async (id) => assistants.findOne({ _id: id, ...own }, { created_at: 1 }).lean<VectorStoreRecord>(),
      read: (range, sort) =>
        assistants
          .find({ ...own, ...range })
          .sort(sort)
          .lean<VectorStoreRecord>(),
      bytesOf: () => recordBytes,
    })
  },

  add: async (store: VectorStoreRecord, session: ClientSession) => assistants.create([store], { session }),

  /** The changed store; null if there is none. */
  changeOwned: async (projectId: string, id: string, change: UpdateQuery<AssistantRecord>) =>
    assistants
      .findOneAndUpdate({ _id: id, project_id: projectId, ...present }, change, { returnDocument: 'after' })
      .lean<VectorStoreRecord>(),

  /** Notes a use; the days after which it expires are as they were read. */
  async noteActivity(
    { _id, store }: Pick<VectorStoreRecord, '_id' | 'store'>,
    now: Date,
    expiresAt?: Date,
  ): Promise<void> {
    const { expires_after_days: days } = store
    await assistants.updateOne(
      { _id, ...present, 'store.expires_after_days': days ?? { $exists: false } },
      {
        $set: {
          'store.last_active_at': now,
          ...(expiresAt === undefined ? {} : { 'store.expires_at': expiresAt }),
        },
      },
    )
  },
})

const spaceMembers = {
  user_id: 1,
  deleting: 1,
  embedding_model: 1,
  vector_generation: 1,
  last_generation: 1,
  reembedding: 1,
} as const
/** What tells in which spaces the vectors of an assistant are. */
export type SpaceFacts = Pick<AssistantRecord, '_id' | keyof typeof spaceMembers>

/** Nobody has taken another space meanwhile. */
const asRead = ({ _id, embedding_model, last_generation }: SpaceFacts) => ({
  _id,
  embedding_model: embedding_model ?? { $exists: false },
  last_generation: last_generation ?? { $exists: false },
})

/**
 * Statements on where the vectors of assistants and vector stores are; the assistant was found as its owner's, or by a
 * worker.
 */
export const spaceStore = ({ assistants }: Pick<Collections, 'assistants'>) => ({
  /** Also of one that is being deleted. */
  find: async (id: string) => assistants.findById(id, spaceMembers).lean<SpaceFacts>(),

  findAssistant: async (id: string) => assistants.findOne({ _id: id, ...notDeleting }).lean<AssistantRecord>(),

  /** For the operator: all that may have files, by id. */
  listWithFilesOfAny: async (after: object, most: number) =>
    assistants
      .find({ ...notDeleting, has_files: { $ne: false }, ...after })
      .sort({ _id: 1 })
      .limit(most)
      .lean<AssistantRecord[]>(),

  takeModel: async (known: SpaceFacts, model: string, generation: number) =>
    assistants.updateOne(asRead(known), {
      $set: { embedding_model: model, vector_generation: generation, last_generation: generation },
      $unset: { reembedding: 1 },
    }),

  /** False if something has changed. */
  beginReembedding: async (known: AssistantRecord, begun: ReembeddingRecord) =>
    isMatched(
      await assistants.updateOne(
        { ...asRead(known), ...notDeleting },
        { $set: { reembedding: begun, last_generation: begun.generation } },
      ),
    ),

  continueReembedding: async (known: AssistantRecord, generation: number) =>
    isMatched(
      await assistants.updateOne(
        { ...asRead(known), ...notDeleting, 'reembedding.generation': generation },
        { $unset: { 'reembedding.error': 1 } },
      ),
    ),

  takeReembeddingBack: async (known: AssistantRecord) =>
    assistants.updateOne({ ...asRead(known), ...notDeleting }, { $unset: { reembedding: 1 } }),

  /** From now on, searches use the new space. Without effect if they do, or if another change has begun. */
  switchOver: async (id: string, generation: number, model: string) =>
    assistants.updateOne(
      { _id: id, ...notDeleting, 'reembedding.generation': generation },
      { $set: { embedding_model: model, vector_generation: generation }, $unset: { reembedding: 1 } },
    ),

  /** Whether searches use this space, and no other one is being filled. */
  isSearched: async (id: string, generation: number) =>
    (await assistants.exists({ _id: id, vector_generation: generation, reembedding: { $exists: false } })) !== null,

  failReembedding: async (id: string, generation: number, error: string) =>
    assistants.updateOne({ _id: id, 'reembedding.generation': generation }, { $set: { 'reembedding.error': error } }),
})
