import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

interface ProcessUsage {
  residentBytes: number
  /** Processor time since the process began. */
  cpuSeconds: number
}

const isLinux = process.platform === 'linux'
/** `ps` starts a process each time; `/proc` needs two small reads. */
const pollEveryMs = isLinux ? 40 : 500

export interface Watch {
  stop(): void
}

/** Calls `look` with the usage of a process, several times a second, until `stop`. A failed call is repeated. */
export function watchProcess(pid: number, look: (usage: ProcessUsage) => void): Watch {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  const again = async () => {
    const usage = await usageOf(pid).catch(() => undefined)
    if (isStopped) return
    if (usage !== undefined) look(usage)
    timer = setTimeout(() => void again(), pollEveryMs)
  }
  void again()
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

export async function usageOf(pid: number): Promise<ProcessUsage> {
  return isLinux ? fromProc(pid) : fromPs(pid)
}

/** Linux reports processor time to user programs in hundredths of a second (proc(5), `sysconf(_SC_CLK_TCK)`). */
const ticksPerSecond = 100

function fromProc(pid: number): ProcessUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const residentKb = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0)
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may contain anything; fields 14 and 15 are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = Number(fields[11]) + Number(fields[12])
  return { residentBytes: residentKb * 1024, cpuSeconds: ticks / ticksPerSecond }
}

const run = promisify(execFile)

async function fromPs(pid: number): Promise<ProcessUsage> {
  const { stdout } = await run('ps', ['-o', 'rss=,time=', '-p', String(pid)])
  const [residentKb, time = ''] = stdout.trim().split(/\s+/)
  const cpuSeconds = time.split(/[:-]/).reduce((sum, part) => sum * 60 + Number(part), 0)
  return { residentBytes: Number(residentKb) * 1024, cpuSeconds }
}
