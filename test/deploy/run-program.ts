import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export interface RunOptions {
  cwd?: string
  env?: Record<string, string>
  uid?: number
  gid?: number
}

/** Runs a program to its end and answers what it printed. Throws with it when the program fails. */
export async function runProgram(program: string, args: string[], options: RunOptions = {}): Promise<string> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [said, complained, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${(said + complained).slice(-4000)}`)
  return said
}
