/** A file of a session. `path` is relative to `/mnt/data`. */
export interface SessionFile {
  path: string
  bytes: Buffer
}

/** Whether a session was given this content under this path before, or wrote it. */
export type IsKnown = (path: string, sha256: string) => boolean

export interface CodeJob {
  /** Names the session: the same name continues with the variables of its earlier calls, while its process lives. */
  session: string
  /** Who asks: sessions of one user take turns with those of others. */
  owner: string
  code: string
  /** The files that the session does not know yet: all for a new one, later those that have come since. */
  files(isKnown: IsKnown): Promise<SessionFile[]>
  /** What was executed last in this session, by any worker; a process that has not executed it is not continued. */
  after: string | undefined
  /** Names this execution. */
  becomes: string
}

export interface CodeResult {
  /** What the code printed, and the value of its last expression. */
  output: string
  /** The end of Python's traceback, or why the process was ended. */
  error?: string
  /** Files that the code wrote or changed. */
  files: SessionFile[]
  /** Why files that it wrote are not among them. */
  leftOut: string[]
  /** The session had no process here: variables of earlier calls are gone. */
  isNew: boolean
  /** How long the code was executed. */
  seconds: number
}

/** One process that executes Python for one session. */
export interface PythonProcess {
  readonly isGone: boolean
  put(files: SessionFile[]): void
  /** Executes code. After an answer that is `ended` the process is gone. Throws the signal's reason when aborted. */
  run(code: string, signal: AbortSignal): Promise<Omit<CodeResult, 'isNew' | 'seconds'> & { ended: boolean }>
  kill(): Promise<void>
}

/** Starts a process that is ready for code. */
export type StartPython = () => Promise<PythonProcess>

/** Executes Python. */
export interface CodeInterpreter {
  /** Throws the signal's reason when aborted, and `too_many_requests` while too many wait. */
  execute(job: CodeJob, signal: AbortSignal): Promise<CodeResult>
  /** What a model should know: version and packages. */
  describe(): string
}
