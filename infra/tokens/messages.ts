/** What the counting thread is asked, and what it answers. */
export interface CountJob {
  id: number
  /** Whose turn it is: users share the thread evenly. */
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
