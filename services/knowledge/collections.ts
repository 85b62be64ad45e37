import type { Model } from 'mongoose'
import type { ChunkGroupRecord } from '../../domain/records/chunk-group.ts'
import type { FileBatchRecord } from '../../domain/records/file-batch.ts'
import type { FileRecord } from '../../domain/records/file.ts'

/** The collections of the knowledge base. `infra/mongo` creates them. */
export interface KnowledgeCollections {
  files: Model<FileRecord>
  fileBatches: Model<FileBatchRecord>
  /** Groups of consecutive chunks. */
  chunks: Model<ChunkGroupRecord>
}
