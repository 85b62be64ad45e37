/** Requests to the checking thread; schema and arguments as JSON text. */
export interface CheckJob {
  schemaJson: string
  argsJson: string
}

/** `ready` is sent once, when the thread can take a job; then each job is answered. */
export type CheckAnswer = 'ready' | { problem: string | undefined }
