export interface ProjectRecord {
  _id: string
  user_id: string
  name: string
  description: string
  created_at: Date
  updated_at: Date
  /** Set when the project's deletion begins: from then on nothing new can be made in it. */
  deleting?: boolean
}

export const mainProjectName = 'main'
