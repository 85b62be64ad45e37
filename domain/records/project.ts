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

/** An id that was chosen first and made after: one that is not `made` yet may be made by whoever comes by. */
export interface DefaultMember {
  id: string
  made: boolean
}

export const mainProjectName = 'main'
