import { once } from 'node:events'
import { Socket } from 'node:net'

/** The number of the pipe; `diesWithUs` uses 3. */
const pipe = 4

/** For a process that loads its code and then waits: after input, output and errors. */
export const goAheadPipes = ['ignore', 'pipe'] as const

/** Closes our end of the pipe, also when the process is gone. */
export function giveGoAhead(pipes: readonly unknown[]): void {
  const ours = pipes[pipe]
  if (ours instanceof Socket) ours.destroy()
}

/** In that process: waits until the pipe is closed. */
export async function goAhead(): Promise<void> {
  const ours = new Socket({ fd: pipe })
  await once(ours.resume(), 'end')
}
