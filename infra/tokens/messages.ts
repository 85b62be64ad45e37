/** Requests to the counting thread, and its answers. */
export interface CountJob {
  id: number
  /** The user: users share the thread evenly. */
  userId: string
  texts: string[]
  limit: number
}

/** Nobody waits for this job any more. */
export interface CountCancelled {
  cancelled: number
}

export interface CountAnswer {
  id: number
  counts: number[]
}
