import { spawn } from 'node:child_process'
import { once } from 'node:events'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

interface RunOptions {
  cwd: string
  env: NodeJS.ProcessEnv
  timeIsOver: AbortSignal
  graceMs?: number
}

/**
 * Runs Node with these arguments until it ends, or until its time is over: then it is ended, and all that it started,
 * by SIGTERM, and later by SIGKILL. Nothing that it started is left afterwards.
 */
export async function runWithLimit(
  args: readonly string[],
  { timeIsOver, graceMs = 30_000, ...as }: RunOptions,
): Promise<void> {
  // The leader of a group of its own.
  const child = spawn(process.execPath, args, { ...as, stdio: 'inherit', detached: true })
  const end = (signal: NodeJS.Signals) => signalGroup(child.pid, signal)
  let forced: NodeJS.Timeout | undefined
  const overdue = () => {
    end('SIGTERM')
    forced = setTimeout(() => end('SIGKILL'), graceMs)
  }
  timeIsOver.addEventListener('abort', overdue)
  const stop = () => {
    end('SIGTERM')
    process.exit(1)
  }
  for (const signal of signals) process.once(signal, stop)
  try {
    await once(child, 'exit')
  } finally {
    for (const signal of signals) process.off(signal, stop)
    timeIsOver.removeEventListener('abort', overdue)
    clearTimeout(forced)
    end('SIGKILL')
  }
}

function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (leader !== undefined) process.kill(-leader, signal)
  } catch (error) {
    // Nobody of the group is left.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}
