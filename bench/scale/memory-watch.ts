import { readFile } from 'node:fs/promises'
import { processOf } from '../processes.ts'

/** Watches the resident memory of this process and of those that it starts; `stop` tells the most, in MiB. */
export function createMemoryWatch() {
  let most = 0
  const timer = setInterval(() => void sample(), 250)

  async function sample(): Promise<void> {
    const children = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').catch(() => '')
    const pids = [process.pid, ...children.split(' ').filter(Boolean).map(Number)]
    const sizes = await Promise.all(pids.map((pid) => memoryOf(pid)))
    most = Math.max(
      most,
      sizes.reduce((sum, size) => sum + size, 0),
    )
  }

  return {
    stop(): number {
      clearInterval(timer)
      return most
    },
  }
}

/** Zero for a process that has ended. */
const memoryOf = (pid: number) =>
  processOf(pid)
    .memoryMiB()
    .catch(() => 0)
