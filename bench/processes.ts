import { readFile } from 'node:fs/promises'

export interface MeasuredProcess {
  pid: number
  /** Resident memory in MiB. */
  memoryMiB(): Promise<number>
  /** Processor time that it has taken, in milliseconds; Linux counts it in hundredths of a second. */
  processorMs(): Promise<number>
}

export function processOf(pid: number): MeasuredProcess {
  return { pid, memoryMiB: () => memoryMiB(pid), processorMs: () => processorMs(pid) }
}

async function memoryMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

async function processorMs(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
