import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { promisify } from 'node:util'

/** The states of all threads in a process group, as letters (`T` stopped, `Z` ended); empty when the group is gone. */
export async function statesOf(group: number): Promise<string[]> {
  if (process.platform !== 'linux') return statesByPs(group)
  const states: string[] = []
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid) || (await stat(`/proc/${pid}`))?.group !== group) continue
    for (const thread of await readdir(`/proc/${pid}/task`).catch(() => [])) {
      const state = (await stat(`/proc/${pid}/task/${thread}`))?.state
      if (state !== undefined) states.push(state)
    }
  }
  return states
}

/** Undefined when it ended meanwhile. */
async function stat(folder: string): Promise<{ state: string; group: number } | undefined> {
  const text = await readFile(`${folder}/stat`, 'utf8').catch(() => undefined)
  // The name, in parentheses, may contain anything.
  const [state = '', , group] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? []
  return text === undefined ? undefined : { state, group: Number(group) }
}

async function statesByPs(group: number): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pgid=', '-o', 'stat='])
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid]) => Number(pgid) === group)
    .map(([, state = '']) => state.slice(0, 1))
}
