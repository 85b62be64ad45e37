import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { type ConfinedOptions, giveBackUserId, makeFolder, spawnConfined, takeUserId } from './confinement.ts'

export type StartOptions = Pick<ConfinedOptions, 'confinement' | 'memoryMb' | 'reads'>

/**
 * Starts one of our scripts confined, in a folder and with a user id that end with it. `errors`: the first kilobytes of what
 * it has written to its standard error.
 */
export async function startConfined(script: string, args: string[], { confinement, memoryMb, reads }: StartOptions) {
  const userId = confinement.user ? takeUserId() : undefined
  const folder = await makeFolder(userId).catch((error: unknown) => {
    if (userId !== undefined) giveBackUserId(userId)
    throw error
  })
  const child = spawnConfined(script, args, { confinement, userId, folder, reads, memoryMb })
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new Error('the process was started without pipes')
  const errors = beginningOf(stderr)
  const gone = Promise.withResolvers<void>()
  let isGone = false
  const end = () => {
    if (isGone) return
    isGone = true
    if (userId !== undefined) giveBackUserId(userId)
    void rm(folder, { recursive: true, force: true }).then(gone.resolve, gone.resolve)
  }
  child.once('exit', end)
  child.once('error', end)
  // A dead process does not take its job; that is noticed by the end of its output.
  stdin.on('error', () => undefined)
  return {
    child,
    userId,
    folder,
    stdin,
    stdout,
    stderr,
    errors,
    gone: gone.promise,
    isGone: () => isGone,
  }
}

/** The first kilobytes of what a process has written so far. */
function beginningOf(stream: Readable): () => string {
  let text = ''
  stream.on('data', (data: Buffer) => {
    if (text.length < 4096) text += data.toString('utf8')
  })
  return () => text
}
