import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { plainEnv } from './plain-env.ts'

/** Runs one of our scripts to its end, which must be the exit code, and returns what it has written. */
export async function runScript(
  script: string,
  env: Record<string, string>,
  { exitCode = 0, args = [] as string[] } = {},
) {
  const cwd = fileURLToPath(new URL('../..', import.meta.url))
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { ...plainEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [said, problems, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  expect(`${code} ${problems}`).toMatch(new RegExp(`^${exitCode} `))
  return { said, problems }
}
