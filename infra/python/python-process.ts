import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sessionPath } from '../../domain/session-path.ts'
import type { PythonProcess, SessionFile } from '../../services/code/interpreter.ts'
import { findConfinement } from '../extract/confinement.ts'
import { watchProcess } from '../extract/process-usage.ts'
import { startConfined } from '../extract/start-confined.ts'
import { linesOf } from '../lines.ts'
import { type InterpreterJob, maxLineCharacters, outputLimits, parseLine } from './messages.ts'

const script = fileURLToPath(new URL('./child/interpreter.ts', import.meta.url))
const pyodide = () => dirname(fileURLToPath(import.meta.resolve('pyodide')))
/** Sources, where the process is not bundled. */
const sources = dirname(fileURLToPath(import.meta.url))

interface PythonLimits {
  /** Resident memory of the process, of which an idle interpreter takes about 170. */
  memoryMb: number
  /** Processor time of one execution. */
  cpuSeconds: number
  /** Time of one execution. */
  timeoutSeconds: number
}

/** A start takes two seconds of processor time. */
const startMs = 120_000

/**
 * Starts Python in a process without network, files and rights of its own, and waits until it is ready. A process that
 * exceeds its limits is killed, and its session with it.
 */
export async function startPythonProcess(limits: PythonLimits, packages?: string): Promise<PythonProcess> {
  const confinement = await findConfinement()
  const own = packages === undefined ? [] : [packages]
  const reads = [pyodide(), sources, ...own]
  const started = await startConfined(script, own, { confinement, memoryMb: limits.memoryMb, reads })
  const { child, stdin, stdout, errors, gone } = started
  const lines = linesOf(stdout, { maxCharacters: maxLineCharacters })
  const send = (job: InterpreterJob) => stdin.write(`${JSON.stringify(job)}\n`)
  const next = async () => {
    const line = await lines.next().catch(() => undefined)
    return line === undefined || line.done ? undefined : parseLine(line.value)
  }

  const timer = setTimeout(() => child.kill('SIGKILL'), startMs)
  const first = await next().finally(() => clearTimeout(timer))
  if (first === undefined || !('ready' in first)) {
    child.kill('SIGKILL')
    await gone
    throw new Error('the interpreter did not start', { cause: errors() })
  }

  return {
    put(files) {
      for (const { path, bytes } of files) send({ put: { path, base64: bytes.toString('base64') } })
    },

    async run(code, signal) {
      signal.throwIfAborted()
      const watch = killBeyond(limits, { pid: child.pid ?? 0, kill: () => child.kill('SIGKILL') }, signal)
      try {
        send({ run: { code } })
        const files: SessionFile[] = []
        for (let line = await next(); line !== undefined; line = await next()) {
          if ('file' in line) {
            const file = receive(line.file)
            if (file === undefined || files.length >= outputLimits.files) break
            files.push(file)
          } else if ('end' in line) return { ...line.end, files, ended: false }
        }
        child.kill('SIGKILL')
        await gone
        signal.throwIfAborted()
        return { output: '', error: watch.verdict() ?? crashed, files: [], leftOut: [], ended: true }
      } finally {
        watch.stop()
      }
    },

    get isGone() {
      return started.isGone()
    },
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Code may have taken over the process: what it sends is checked like any file of a stranger. */
function receive({ path, base64 }: { path: string; base64: string }): SessionFile | undefined {
  const clean = sessionPath(path)
  const bytes = Buffer.from(base64, 'base64')
  return clean === undefined || bytes.length > outputLimits.fileBytes ? undefined : { path: clean, bytes }
}

const crashed = 'The interpreter ended unexpectedly.'

function killBeyond(
  { memoryMb, cpuSeconds, timeoutSeconds }: PythonLimits,
  { pid, kill }: { pid: number; kill: () => void },
  signal: AbortSignal,
) {
  let verdict: string | undefined
  const stopFor = (reason: string) => {
    verdict ??= reason
    kill()
  }
  let atStart: number | undefined
  const watch = watchProcess(pid, ({ residentBytes, cpuSeconds: used }) => {
    atStart ??= used
    if (residentBytes > memoryMb * 1024 * 1024) stopFor(`It took more memory than is allowed (${memoryMb} MiB).`)
    if (used - atStart > cpuSeconds) stopFor(`It took more than ${cpuSeconds} seconds of processor time.`)
  })
  const timer = setTimeout(() => stopFor(`It took more than ${timeoutSeconds} seconds.`), timeoutSeconds * 1000)
  signal.addEventListener('abort', kill, { once: true })
  return {
    verdict: () => verdict,
    stop(): void {
      clearTimeout(timer)
      watch.stop()
      signal.removeEventListener('abort', kill)
    },
  }
}
