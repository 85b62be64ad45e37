import { spawn } from 'node:child_process'
import { mkdirSync, openSync, closeSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Watch, keepRunning } from './keep-running.ts'
import { LocalServiceError } from './ways.ts'

/** A server that was started here. `exited` resolves when it ends, for whatever reason. */
export type ServerProcess = { pid: number; exited: Promise<string>; stop: () => Promise<void> }

export type ServerCommand = {
  name: string
  command: string
  args: string[]
  env?: NodeJS.ProcessEnv
  cwd: string
  logFile: string
  /** Whether the server answers; called until it returns true. */
  ready: () => Promise<boolean>
  readyLimitMs?: number
}

/**
 * The shell becomes the server (`exec`, so that the pid is the server's own). Next to it runs a small shell that
 * reads a pipe from us: when we end for any reason, the pipe closes, and it stops the server's group, then kills
 * it. So nothing is left behind after a `kill -9`, on Linux and macOS. Its own command line does not contain the
 * server's name, so that no search by name finds it.
 */
export const diesWithUs = [
  // A background command gets an empty input, even with `<&0`: the pipe needs its own number.
  'exec 3<&0',
  `sh -c 'trap "" TERM INT HUP; read -r _; if kill -0 $1; then kill -TERM -$1; sleep 3; fi; kill -KILL -$1' guard $$ <&3 3<&- >/dev/null 2>&1 &`,
  'exec "$@" </dev/null 3<&-',
].join('\n')

/**
 * Starts a server and waits until it answers; aborting the signal stops it meanwhile. With `watch` it is restarted with
 * its data and its port whenever it exits; a server that keeps exiting is given up.
 */
export async function startServer(
  server: ServerCommand,
  watch: Watch | undefined,
  startSignal?: AbortSignal,
): Promise<ServerProcess> {
  const first = await startServerProcess(server, startSignal)
  if (!watch) return first
  const kept = keepRunning(
    {
      name: server.name,
      first,
      start: (signal) => startServerProcess(server, signal),
      // It has answered by then, so a later kill is not a failure of the start.
      stableMs: 1_000,
      maxFailures: 6,
      whereToLook: `${server.logFile} says why. The service is without it until npm start is called again.`,
    },
    watch,
  )
  return {
    ...first,
    stop: async () => {
      await kept.stop()
    },
  }
}

/** Throws with the last lines of the server's log if it does not answer in time, and if the signal is aborted. */
export async function startServerProcess(server: ServerCommand, signal?: AbortSignal): Promise<ServerProcess> {
  mkdirSync(path.dirname(server.logFile), { recursive: true })
  mkdirSync(server.cwd, { recursive: true })
  const log = openSync(server.logFile, 'a')
  const child = spawn('/bin/sh', ['-c', diesWithUs, 'sh', server.command, ...server.args], {
    cwd: server.cwd,
    env: server.env ?? process.env,
    stdio: ['pipe', log, log],
    // A separate process group: Ctrl-C in the terminal reaches only us, and we stop everything in order.
    detached: true,
  })
  closeSync(log)
  const { promise: exited, resolve } = Promise.withResolvers<string>()
  child.once('exit', (code, killedBy) => {
    // The guard, which waits for the end of this pipe, ends with the rest of the group.
    child.stdin?.destroy()
    resolve(String(killedBy ?? code))
  })
  child.once('error', (error) => resolve(error.message))
  const pid = child.pid
  if (pid === undefined) throw new LocalServiceError(`${server.name} did not start: ${await exited}`)
  const stop = () => stopGroup(pid, exited)
  await waitUntilReady(server, exited, signal).catch(async (error: unknown) => {
    await stop()
    throw error
  })
  return { pid, exited, stop }
}

async function waitUntilReady(server: ServerCommand, exited: Promise<string>, signal?: AbortSignal): Promise<void> {
  const limitMs = server.readyLimitMs ?? 60_000
  const deadline = Date.now() + limitMs
  let end: string | undefined
  void exited.then((how) => (end = how))
  while (!(await server.ready())) {
    signal?.throwIfAborted()
    if (end === undefined && Date.now() < deadline) await pause(30)
    else {
      const what = end === undefined ? `did not answer within ${limitMs / 1000} s` : `ended at its start (${end})`
      throw new LocalServiceError(`${server.name} ${what}. ${server.logFile} ends with:\n${tail(server.logFile)}`)
    }
  }
}

/** Asks the group to stop, and kills it if that takes longer than the limit. */
async function stopGroup(pid: number, exited: Promise<string>, limitMs = 8_000): Promise<void> {
  signalGroup(pid, 'SIGTERM')
  const done = await Promise.race([exited.then(() => true), pause(limitMs, false, { ref: false })])
  if (!done) signalGroup(pid, 'SIGKILL')
  await exited
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group is gone already.
  }
}

function tail(file: string): string {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(-5)
    .map((line) => `    ${line.slice(0, 300)}`)
    .join('\n')
}
