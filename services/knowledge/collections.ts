import type { Model } from 'mongoose'
import type { ChunkRecord, FileRecord } from '../../domain/records/file.ts'

/** The collections of the knowledge base. `infra/mongo` creates them. */
export interface KnowledgeCollections {
  files: Model<FileRecord>
  chunks: Model<ChunkRecord>
}
