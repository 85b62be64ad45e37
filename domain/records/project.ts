export interface ProjectRecord {
  _id: string
  user_id: string
  name: string
  description: string
  /** What a login opens in a project called `main`. */
  default_assistant?: DefaultMember
  default_thread?: DefaultMember
  created_at: Date
  updated_at: Date
  /** Raised by each creation beneath this record, so that creations and a deletion's fence never miss each other. */
  holds?: number
  /** Set when the project's deletion begins: from then on nothing new can be made in it. */
  deleting?: boolean
}

/** The id is chosen before the record is created. Any process that finds `made` false may create the record. */
export interface DefaultMember {
  id: string
  made: boolean
}

export const mainProjectName = 'main'
