export interface ProjectRecord {
  _id: string
  user_id: string
  name: string
  description: string
  /** What a login returns for the project `main`. */
  default_assistant?: DefaultMember
  default_thread?: DefaultMember
  created_at: Date
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at?: Date
  updated_at: Date
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds?: number
  /** The deletion marker: nothing new can be created in the project. */
  deleting?: boolean
  /** What was done beside runs, by day (UTC), such as 2026-11-22. */
  work?: Record<string, Partial<Work>>
  /** A copy of its owner's suspension: nothing new can be created in it. */
  suspended?: boolean
}

/** What is done for a project on one day, besides asking models. */
export interface Work {
  embedding_tokens: number
  /** Processor time for reading pictures. */
  recognition_seconds: number
  crawled_pages: number
  /** In which code of models was executed. */
  code_seconds: number
}

/** The id is reserved before the record is created. Any process that finds `made` false may create the record. */
export interface DefaultMember {
  id: string
  made: boolean
}

export const mainProjectName = 'main'
