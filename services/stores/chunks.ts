import { type ChunkGroupRecord, groupStart } from '../../domain/records/chunk-group.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'

/** Chunks and vectors: whose they are, and the id under which they are stored. Copies of a file share them. */
export interface StoredContent {
  assistantId: string
  contentId: string
}

const of = ({ assistantId, contentId }: StoredContent) => ({ assistant_id: assistantId, file_id: contentId })

/** Statements on `chunks`: groups of passages of files. */
export const chunkStore = ({ chunks }: Pick<Collections, 'chunks'>) => ({
  /** The groups with chunks from one position up to, but not including, another. */
  listBetween: async (content: StoredContent, from: number, to: number) =>
    chunks.find({ ...of(content), position: { $gte: groupStart(from), $lt: to } }).lean<ChunkGroupRecord[]>(),

  listOwned: async (assistantId: string, ids: string[]) =>
    chunks.find({ _id: { $in: ids }, assistant_id: assistantId }).lean<ChunkGroupRecord[]>(),

  /** An interrupted attempt may have stored some of them: they are identical. */
  async addOnce(records: ChunkGroupRecord[]): Promise<void> {
    try {
      await chunks.insertMany(records, { ordered: false, lean: true })
    } catch (error) {
      if (!isDuplicateKey(error)) throw error
      const stored = await chunks.countDocuments({ _id: { $in: records.map((record) => record._id) } })
      if (stored < records.length) throw error
    }
  },

  count: async (content: StoredContent) => chunks.countDocuments(of(content)),

  remove: async (content: StoredContent) => chunks.deleteMany(of(content)),

  removeAll: async (assistantId: string, contentIds: string[]) =>
    chunks.deleteMany({ assistant_id: assistantId, file_id: { $in: contentIds } }),

  countOwned: async (assistantId: string) => chunks.countDocuments({ assistant_id: assistantId }),

  removeOwned: async (assistantId: string) => chunks.deleteMany({ assistant_id: assistantId }),

  /** For the sweep: of all there are. */
  async contentsOfAny(): Promise<StoredContent[]> {
    const found = await chunks.aggregate<{ _id: StoredContent }>([
      { $group: { _id: { assistantId: '$assistant_id', contentId: '$file_id' } } },
    ])
    return found.map(({ _id }) => _id)
  },
})
