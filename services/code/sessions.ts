import { createHash } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import { createInTurn } from '../in-turn.ts'
import { createSemaphore } from '../semaphore.ts'
import type { CodeInterpreter, CodeJob, CodeResult, PythonProcess, SessionFile, StartPython } from './interpreter.ts'

interface SessionOptions {
  start: StartPython
  /** What a model should know of the interpreter. */
  description: string
  /** Processes at once, each with one session. */
  processes: number
  /** Whether one more process waits for the next session, after the first was asked for. */
  keepsReady?: boolean
}

/** A session that is not used so long loses its process: as containers of the imitated interface do. */
const idleMs = 20 * 60_000

interface Session {
  process: PythonProcess
  owner: string
  /** What it has executed. */
  executed: Set<string>
  /** What it was given, and what it has written. */
  known: Set<string>
  isBusy: boolean
  timer: NodeJS.Timeout | undefined
}

/**
 * Executes Python of Pyodide in confined processes, one for each session. When all are taken, the session that was idle
 * longest loses its process; it is told so with its next call. Users take turns.
 */
export function createCodeSessions({
  start,
  description,
  processes,
  keepsReady = false,
}: SessionOptions): CodeInterpreter & { close(): Promise<void> } {
  /** In the order of their last use. */
  const sessions = new Map<string, Session>()
  // One user never has all places.
  const slotsPerOwner = Math.max(1, processes - 1)
  const slots = createSemaphore({ slots: processes, slotsPerOwner, waiting: 200, waitingPerOwner: 20 })
  const inTurn = createInTurn()
  const ready = createReadyProcess(start, keepsReady ? idleMs : 0)
  /** Sessions that are about to be among `sessions`. */
  let opening = 0
  let isClosed = false

  async function end(name: string, session: Session): Promise<void> {
    clearTimeout(session.timer)
    if (sessions.get(name) === session) sessions.delete(name)
    await session.process.kill()
  }

  /** The session's process if it has executed what was executed last; a fresh one otherwise. */
  async function open({ session: name, owner, after }: CodeJob): Promise<{ session: Session; isNew: boolean }> {
    const known = sessions.get(name)
    if (known && !known.process.isGone && isLeftIn(known, after) && known.owner === owner) {
      clearTimeout(known.timer)
      known.isBusy = true
      return { session: known, isNew: false }
    }
    opening += 1
    try {
      if (known) await end(name, known)
      await makeRoom()
      const process = await ready.take()
      const session: Session = { process, owner, executed: new Set(), known: new Set(), isBusy: true, timer: undefined }
      sessions.set(name, session)
      return { session, isNew: true }
    } finally {
      opening -= 1
    }
  }

  /** For one more session. There is an idle one, because only so many are busy as there are slots. */
  async function makeRoom(): Promise<void> {
    const idle = [...sessions].filter(([, { isBusy }]) => !isBusy)
    const surplus = Math.max(0, sessions.size + opening - processes)
    await Promise.all(idle.slice(0, surplus).map(([name, session]) => end(name, session)))
  }

  async function execute(job: CodeJob, signal: AbortSignal): Promise<CodeResult> {
    const release = await slots.acquire(job.owner, signal)
    if (release === undefined)
      throw new AppError('too_many_requests', 'Too much code is being executed. Try again later.', {
        retryAfterSeconds: 10,
      })
    try {
      const { session, isNew } = await open(job)
      try {
        await give(session, job.files)
        const begun = performance.now()
        const { ended, ...result } = await session.process.run(job.code, signal)
        const seconds = (performance.now() - begun) / 1000
        session.executed.add(job.becomes)
        note(session, result.files)
        if (ended) await end(job.session, session)
        return { ...result, isNew, seconds }
      } catch (error) {
        await end(job.session, session)
        throw error
      } finally {
        rest(job.session, session)
      }
    } finally {
      release()
    }
  }

  /** Until its next call. */
  function rest(name: string, session: Session): void {
    if (sessions.get(name) !== session) return
    session.isBusy = false
    sessions.delete(name)
    sessions.set(name, session)
    session.timer = setTimeout(() => void end(name, session), idleMs)
    session.timer.unref()
    if (isClosed) void end(name, session)
  }

  return {
    execute: (job, signal) => inTurn(job.session, () => execute(job, signal)),
    describe: () => description,
    async close() {
      isClosed = true
      await Promise.all([ready.close(), ...[...sessions].map(([name, session]) => end(name, session))])
    },
  }
}

async function give(session: Session, files: CodeJob['files']): Promise<void> {
  const given = await files((path, sha256) => session.known.has(`${sha256} ${path}`))
  session.process.put(given)
  note(session, given)
}

function note({ known }: Session, files: SessionFile[]): void {
  for (const { path, bytes } of files) known.add(`${createHash('sha256').update(bytes).digest('hex')} ${path}`)
}

/** Nothing was executed elsewhere since. The call before this one may not be noted yet, if both came in one answer. */
function isLeftIn({ executed }: Session, after: string | undefined): boolean {
  return after === undefined || executed.has(after)
}

/**
 * Starts processes ahead: after each that is taken, another one starts beside the code of the first, and ends when nobody
 * needs it for `keepMs`. With `keepMs` 0 none starts ahead.
 */
function createReadyProcess(start: () => Promise<PythonProcess>, keepMs: number) {
  let ready: { process: Promise<PythonProcess>; timer: NodeJS.Timeout } | undefined
  let isClosed = false

  function prepare(): void {
    const process = start()
    process.catch(() => undefined)
    ready = { process, timer: setTimeout(() => void end(), keepMs).unref() }
  }

  async function end(): Promise<void> {
    const ended = ready
    ready = undefined
    clearTimeout(ended?.timer)
    const process = await ended?.process.catch(() => undefined)
    await process?.kill()
  }

  return {
    async take(): Promise<PythonProcess> {
      const taken = ready
      ready = undefined
      clearTimeout(taken?.timer)
      const prepared = await taken?.process.catch(() => undefined)
      const process = prepared === undefined || prepared.isGone ? await start() : prepared
      if (keepMs > 0 && !isClosed && ready === undefined) prepare()
      return process
    },
    async close(): Promise<void> {
      isClosed = true
      await end()
    },
  }
}
