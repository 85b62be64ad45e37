/** What the checking thread is asked; schema and arguments as JSON text. */
export interface CheckJob {
  schemaJson: string
  argsJson: string
}

/** `ready` is said once, when the thread can take a job; then each job has its answer. */
export type CheckAnswer = 'ready' | { problem: string | undefined }
