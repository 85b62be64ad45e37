import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'

/**
 * Runs a program to its end and returns its output, also given to `onOutput` as it comes. Throws with its last lines
 * when it fails.
 */
export async function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeoutMs?: number; onOutput?: (text: string) => void } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: options.env ?? process.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
  })
  // A build must not continue when the start that needs it is stopped.
  const end = () => child.kill()
  process.once('exit', end)
  let output = ''
  const listen = (chunk: Buffer) => {
    output += chunk.toString()
    options.onOutput?.(chunk.toString())
  }
  child.stdout.on('data', listen)
  child.stderr.on('data', listen)
  child.on('error', (error) =>
    reject('code' in error && error.code === 'ENOENT' ? new Error(`no ${command} on PATH`) : error),
  )
  child.on('close', (code, signal) => {
    if (code === 0) resolve(output)
    else reject(new Error(`${command} ended with ${signal ?? code}: ${lastLines(output, 3)}`))
  })
  return promise.finally(() => process.off('exit', end))
}

/** The full path of a program on PATH; undefined if it is not there. */
export async function findOnPath(command: string, env: NodeJS.ProcessEnv = process.env): Promise<string | undefined> {
  for (const folder of (env.PATH ?? '').split(path.delimiter).filter(Boolean)) {
    const file = path.join(folder, command)
    const executable = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (executable) return file
  }
  return undefined
}

/** The first version number that a program prints, as major and minor; undefined when it prints none. */
export async function versionOf(
  command: string,
  args: string[],
  pattern: RegExp,
): Promise<[number, number] | undefined> {
  const match = pattern.exec(await run(command, args, { timeoutMs: 10_000 }))
  return match ? [Number(match[1]), Number(match[2])] : undefined
}

/** Calls `onTick` with the elapsed seconds while `work` runs, so that a long step shows progress. */
export async function withTicks<T>(work: Promise<T>, onTick: (seconds: number) => void, everyMs = 15_000): Promise<T> {
  const started = Date.now()
  const timer = setInterval(() => onTick(Math.round((Date.now() - started) / 1000)), everyMs)
  return work.finally(() => clearInterval(timer))
}

function lastLines(text: string, count: number): string {
  return text.trim().split('\n').slice(-count).join(' | ').slice(0, 600)
}
