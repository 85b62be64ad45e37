import type { Collections } from '../collections.ts'

/** The collections of the knowledge base; `chunks` are groups of consecutive ones. */
export type KnowledgeCollections = Pick<Collections, 'files' | 'fileBatches' | 'chunks'>
