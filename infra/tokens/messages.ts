/** Requests to the counting thread, and its answers. */
export interface CountJob {
  id: number
  /** The user: users share the thread evenly. */
  userId: string
  texts: string[]
  limit: number
}

/** The result of this job is not needed any more. */
export interface CountCancelled {
  cancelled: number
}

export interface CountAnswer {
  id: number
  counts: number[]
}
