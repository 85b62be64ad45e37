import { spawn } from 'node:child_process'
import { createWriteStream, mkdirSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { forEachLine } from '../infra/lines.ts'
import { giveGoAhead, goAheadPipes } from './go-ahead.ts'
import { diesWithUs } from './services/server-process.ts'

export type ChildOptions = {
  /** The name in front of its lines, and of its log file. */
  name: string
  script: string
  args?: string[]
  env: NodeJS.ProcessEnv
  logFile: string
  /** Called with each line that it writes. */
  onLine: (line: string) => void
  /** What the script waits for in `goAhead`. */
  goAheadAfter?: Promise<void>
}

/**
 * Starts one of our own processes. It ends with us (see `diesWithUs`), and its output is also written to its log
 * file.
 */
export function startChild({ name, script, args = [], env, logFile, onLine, goAheadAfter }: ChildOptions) {
  mkdirSync(path.dirname(logFile), { recursive: true })
  const log = createWriteStream(logFile, { flags: 'a' })
  const process_ = spawn('/bin/sh', ['-c', diesWithUs, 'sh', process.execPath, script, ...args], {
    env,
    stdio: ['pipe', 'pipe', 'pipe', ...goAheadPipes],
    detached: true,
  })
  const { stdio } = process_
  void goAheadAfter?.then(() => giveGoAhead(stdio))
  for (const stream of [process_.stdout, process_.stderr]) {
    if (!stream) continue
    void forEachLine(stream, (line) => {
      log.write(`${line}\n`)
      onLine(line)
    })
  }
  const { promise: exited, resolve } = Promise.withResolvers<string>()
  process_.once('error', (error) => resolve(error.message))
  process_.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  // Wait until all output has been read, because the last lines say why it ended.
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  process_.once('close', () => {
    log.end()
    onClosed()
  })
  return {
    name,
    pid: process_.pid,
    exited,
    closed,
    /** Asks it to end, and kills it if that takes longer than `limitMs`. */
    async stop(limitMs = 5_000): Promise<void> {
      process_.kill('SIGTERM')
      const ended = await Promise.race([exited.then(() => true), pause(limitMs, false, { ref: false })])
      if (!ended) process_.kill('SIGKILL')
      await exited
    },
  }
}
