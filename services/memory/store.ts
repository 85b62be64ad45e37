import type { ClientSession, UpdateQuery } from 'mongoose'
import type { MemoryRecord } from '../../domain/records/memory.ts'
import type { Collections } from '../collections.ts'
import { type Page, type PageRange, readPage } from '../page.ts'

/** Selects facts that are shown. */
export function shown(now = new Date()) {
  return { deleting: { $ne: true }, $or: [{ expires_at: { $exists: false } }, { expires_at: { $gt: now } }] }
}

/** What hides a fact at once. Its text is gone, and may be saved again. */
function tombstone(id: string) {
  return { $set: { deleting: true, text: '', text_hash: `deleted ${id}` } }
}

/** The condition that a fact has no vector of this model, and that the model has not refused it. */
const lacksVector = (model: string) => ({ embedded_with: { $ne: model }, refused_by: { $ne: model } })

/** What a search reads of each fact before it chooses. */
export type ListedFact = Pick<MemoryRecord, '_id' | 'scope' | 'embedded_with' | 'refused_by'>

export type FactStore = ReturnType<typeof factStore>

/** All statements on `memories`. A scope is an owner: it contains the id of the user, project, assistant or caller. */
export const factStore = ({ memories }: Pick<Collections, 'memories'>) => ({
  findOwned: async (userId: string, id: string) =>
    memories.findOne({ _id: id, user_id: userId, ...shown() }).lean<MemoryRecord>(),

  /** Also one that is hidden. */
  hasOwned: async (userId: string, id: string) => (await memories.exists({ _id: id, user_id: userId })) !== null,

  /** Newest first. */
  listOwned: (userId: string, filter: object, range: PageRange): Promise<Page<MemoryRecord>> =>
    readPage(
      memories
        .find({ ...filter, user_id: userId, ...shown() })
        .sort({ _id: -1 })
        .lean<MemoryRecord>(),
      range,
      (fact) => Buffer.byteLength(JSON.stringify(fact)),
    ),

  /** The hidden fact; null if there is none that is shown. */
  hideOwned: async (userId: string, id: string) =>
    memories
      .findOneAndUpdate({ _id: id, user_id: userId, ...shown() }, tombstone(id), { returnDocument: 'after' })
      .lean<MemoryRecord>(),

  /** The same for a fact of this scope alone. */
  hideInScope: async (userId: string, scope: string, id: string) =>
    memories
      .findOneAndUpdate({ _id: id, user_id: userId, scope, deleting: { $ne: true } }, tombstone(id), {
        returnDocument: 'after',
      })
      .lean<MemoryRecord>(),

  /** What a user has told the assistants of a project, or one of them, alone. */
  listOfPositions: async (userId: string, projectId: string, assistantIds: string[]) =>
    memories
      .find({
        user_id: userId,
        caller: { $exists: false },
        $and: [{ $or: [{ project_id: projectId }, { assistant_id: { $in: assistantIds } }] }, shown()],
      })
      .lean<MemoryRecord[]>(),

  /** Changes a fact that is still as it was read. */
  change: async ({ _id, user_id, scope }: MemoryRecord, update: UpdateQuery<MemoryRecord>, session: ClientSession) =>
    memories
      .findOneAndUpdate({ _id, user_id, scope, ...shown() }, update, { session, returnDocument: 'after' })
      .lean<MemoryRecord>(),

  async add(fact: MemoryRecord, session: ClientSession): Promise<void> {
    await memories.create([fact], { session })
  },

  /** Renews the fact of the scope with this id or this text. */
  renewInScope: async (
    scope: string,
    { id, text_hash }: { id: string; text_hash: string },
    $set: Partial<MemoryRecord>,
  ) =>
    memories
      .findOneAndUpdate(
        { scope, deleting: { $ne: true }, $or: [{ _id: id }, { text_hash }] },
        { $set },
        { returnDocument: 'after' },
      )
      .lean<MemoryRecord>(),

  /** The filter names a user, a scope, an assistant or a run. */
  count: async (filter: object, session: ClientSession) => memories.countDocuments(filter, { session }),

  /** Those of the scopes that are shown, the last changed first. */
  listInScopes: async (scopes: string[], most: number) =>
    memories
      .find({ scope: { $in: scopes }, ...shown() }, { scope: 1, embedded_with: 1, refused_by: 1 })
      .sort({ updated_at: -1, _id: -1 })
      .limit(most)
      .lean<ListedFact[]>(),

  findInScopes: async (scopes: string[], ids: string[]) =>
    memories.find({ _id: { $in: ids }, scope: { $in: scopes }, ...shown() }).lean<MemoryRecord[]>(),

  /** Ids that were listed by their scopes before. */
  async embeddedOfAny(ids: string[], model: string): Promise<Set<string>> {
    const found = await memories.find({ _id: { $in: ids }, embedded_with: model }, { _id: 1 }).lean()
    return new Set(found.map(({ _id }) => _id))
  },

  /** Notes what came of the vector of a fact that is as it was read. False if it has changed. */
  async note({ _id, scope, text_hash }: MemoryRecord, $set: Partial<MemoryRecord>): Promise<boolean> {
    const same = { _id, scope, text_hash, deleting: { $ne: true } } as const
    return (await memories.updateOne(same, { $set })).matchedCount > 0
  },

  /** As it is now: it may have moved to another scope. */
  rereadOfAny: async ({ _id }: MemoryRecord) => memories.findOne({ _id, deleting: { $ne: true } }).lean<MemoryRecord>(),

  /** Removes one that is hidden. */
  removeHidden: async ({ _id }: MemoryRecord) => memories.deleteOne({ _id, deleting: true }),

  /** For the sweep: hides what is over. One that was saved again meanwhile stays. */
  async hideExpiredOfAny(now: Date, most: number): Promise<void> {
    const isOver = { expires_at: { $lt: now } }
    for (const { _id } of await memories.find(isOver, { _id: 1 }).limit(most).lean())
      await memories.updateOne({ _id, ...isOver }, tombstone(_id))
  },

  /** For the sweep. */
  hiddenOfAny: async (most: number) => memories.find({ deleting: true }).limit(most).lean<MemoryRecord[]>(),

  /** For the sweep: those without a vector of this model that were not changed since. */
  lackingOfAny: async (model: string, before: Date, most: number) =>
    memories
      .find({ ...lacksVector(model), deleting: { $ne: true }, updated_at: { $lt: before } })
      .limit(most)
      .lean<MemoryRecord[]>(),

  /** Whether a fact of these has no vector of this model yet. `sharing` names a scope or an assistant. */
  hasLacking: async (sharing: object, model: string) =>
    (await memories.exists({ ...sharing, ...lacksVector(model), deleting: { $ne: true } })) !== null,
})
