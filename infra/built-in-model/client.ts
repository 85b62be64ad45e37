import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { lstat, mkdir } from 'node:fs/promises'
import { Socket, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { linesOf } from '../lines.ts'
import { type Answered, maxLineCharacters, readAnswered } from './messages.ts'

const script = fileURLToPath(new URL('./process.ts', import.meta.url))
/** From its start until it listens; the model is loaded afterwards. */
const startMs = 60_000
/** A process that is killed is started again, and the request repeated. */
const attempts = 3

export interface Vectors {
  /** The vectors, one after the other. */
  numbers: Float32Array
  tokens: number
}

/**
 * Asks the process of the built-in model, and starts it if none of this user runs on the machine. `folder`: where its
 * socket is; by default one of the user's own below the folder for temporary files.
 */
export function createModelClient(weights: string, folder?: string) {
  let connected: Promise<Connection> | undefined

  async function connection(): Promise<Connection> {
    const path = await socketPath(weights, folder)
    const socket = (await connectTo(path)) ?? (await startProcess(weights, path))
    const made = createConnection(socket)
    void made.closed.then(() => {
      connected = undefined
    })
    return made
  }

  return {
    /** Throws `ProcessGone` if the process dies again and again. */
    async embed(texts: string[], signal?: AbortSignal): Promise<Vectors> {
      for (let attempt = 1; ; attempt++) {
        signal?.throwIfAborted()
        try {
          connected ??= connection()
          const { ask } = await connected.catch((error: unknown) => {
            connected = undefined
            throw error
          })
          return await ask(texts, signal)
        } catch (error) {
          if (!(error instanceof ProcessGone) || attempt >= attempts) throw error
        }
      }
    },
    async close(): Promise<void> {
      await (await connected?.catch(() => undefined))?.close()
    },
  }
}

export class ProcessGone extends Error {
  override readonly name = 'ProcessGone'
}

type Connection = ReturnType<typeof createConnection>

function createConnection(socket: Socket) {
  const open = new Map<number, PromiseWithResolvers<Vectors>>()
  let lastId = 0

  function complete(answered: Answered): void {
    const request = open.get(answered.id)
    open.delete(answered.id)
    if (open.size === 0) socket.unref()
    if ('problem' in answered) return request?.reject(new Error(answered.problem))
    const bytes = Buffer.from(answered.vectors, 'base64')
    const numbers = new Float32Array(bytes.length / Float32Array.BYTES_PER_ELEMENT)
    new Uint8Array(numbers.buffer).set(bytes)
    request?.resolve({ numbers, tokens: answered.tokens })
  }

  async function read(): Promise<void> {
    try {
      for await (const line of linesOf(socket, { maxCharacters: maxLineCharacters })) {
        const answered = readAnswered(line)
        if (answered === undefined) break
        complete(answered)
      }
    } catch {
      // The process is gone.
    }
    socket.destroy()
    for (const { reject } of open.values()) reject(new ProcessGone('the built-in embedding model ended unexpectedly'))
    open.clear()
  }

  socket.unref()
  const closed = read()
  return {
    closed,
    async ask(texts: string[], signal?: AbortSignal): Promise<Vectors> {
      signal?.throwIfAborted()
      const id = ++lastId
      const request = Promise.withResolvers<Vectors>()
      if (socket.destroyed) throw new ProcessGone('the built-in embedding model ended unexpectedly')
      open.set(id, request)
      socket.ref()
      socket.write(`${JSON.stringify({ id, texts })}\n`)
      const giveUp = () => {
        socket.write(`${JSON.stringify({ id })}\n`)
        open.delete(id)
        if (open.size === 0) socket.unref()
        request.reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      return request.promise.finally(() => signal?.removeEventListener('abort', giveUp))
    },
    async close(): Promise<void> {
      socket.destroy()
      await closed
    },
  }
}

function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('error', () => resolve(undefined))
    socket.once('connect', () => {
      socket.removeAllListeners('error').on('error', () => socket.destroy())
      resolve(socket)
    })
  })
}

async function startProcess(weights: string, path: string): Promise<Socket> {
  const child = spawn(process.execPath, ['--max-old-space-size=256', script, weights, path], {
    // Nothing of our own: secrets of the service least of all, nor its debugger and its heap.
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const failure = failureOf(child)
  for (const end = performance.now() + startMs; performance.now() < end;) {
    const socket = await connectTo(path)
    if (socket) return socket
    if (failure() !== undefined) break
    await sleep(50)
  }
  child.kill('SIGKILL')
  throw new Error(`the built-in embedding model did not start: ${failure() ?? 'it took too long'}`)
}

/** It does not keep our process alive. Of two that are started at once one ends at once, without a failure. */
function failureOf(child: ChildProcess): () => string | undefined {
  let written = ''
  let failure: string | undefined
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (written.length < 2000) written += text
  })
  child.once('error', (error) => (failure = error.message))
  child.once('exit', (code) => {
    if (code !== 0) failure = written.trim().split('\n').slice(-3).join(' ') || `exit code ${code}`
  })
  child.unref()
  if (child.stderr instanceof Socket) child.stderr.unref()
  return () => failure
}

/** In a folder that belongs to this user alone: whoever answers there reads the texts of all files. */
async function socketPath(weights: string, given?: string): Promise<string> {
  // Containers run under numbers that no list of users has.
  const user = process.geteuid?.() ?? 0
  const folder = given ?? join(tmpdir(), `embedding-model-${user}`)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { uid, mode } = await lstat(folder).then((found) => {
    if (!found.isDirectory()) throw new Error(`${folder} is no folder`)
    return found
  })
  if (uid !== user || (mode & 0o077) !== 0) throw new Error(`${folder} is open to other users`)
  return join(folder, createHash('sha256').update(weights).update(script).digest('hex').slice(0, 16))
}
