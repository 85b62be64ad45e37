import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Watch } from '../../local/services/keep-running.ts'
import { type ComposeFile, readComposeFile } from './compose-file.ts'

/** A folder, the description of the installation, and what runs. Everything that was started ends with `close`. */
export interface Drill {
  folder: string
  compose: ComposeFile
  say: (line: string) => void
  /** Restarts what ends, as `restart: unless-stopped` does. */
  watch: Watch
  /** Called in reverse order at the end. */
  onEnd: (stop: () => Promise<unknown>) => void
  /** Ends a process and its children with SIGKILL, and waits until it has been started again. */
  kill: (name: string) => Promise<void>
  close: () => Promise<void>
}

const restartLimitMs = 60_000

export async function beginDrill(say: (line: string) => void): Promise<Drill> {
  const folder = await mkdtemp(path.join(tmpdir(), 'production-drill-'))
  // PostgreSQL's user has to reach its folder.
  await chmod(folder, 0o711)
  // The drill is also the proof that Temporal works with as many shards as a large installation needs.
  const compose = await readComposeFile({ NUM_HISTORY_SHARDS: '512' })
  const pids = new Map<string, number>()
  const ends: (() => Promise<unknown>)[] = []
  return {
    folder,
    compose,
    say,
    watch: {
      say: (line) => say(`> ${line}`),
      onStart: (name, pid) => void pids.set(name.replace(/^The /, ''), pid ?? 0),
    },
    onEnd: (stop) => void ends.unshift(stop),
    async kill(name) {
      const killed = pids.get(name)
      if (killed === undefined || killed === 0) throw new Error(`${name} does not run`)
      process.kill(-killed, 'SIGKILL')
      for (const deadline = Date.now() + restartLimitMs; pids.get(name) === killed; await pause(20))
        if (Date.now() > deadline) throw new Error(`${name} was not started again`)
    },
    async close() {
      for (const stop of ends) await stop().catch((error: unknown) => say(String(error)))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
