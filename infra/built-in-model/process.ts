import { rm } from 'node:fs/promises'
import { type Server, type Socket, connect, createServer } from 'node:net'
import { availableParallelism, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { linesOf } from '../lines.ts'
import { type Answered, maxLineCharacters, readEmbedRequest } from './messages.ts'
import { type BuiltInModel, loadModel } from './model.ts'
import { type Request, createQueue } from './queue.ts'

/**
 * The process of the built-in embedding model, one for all processes of this user on a machine:
 * `node process.ts <weights> <socket>`. It ends when nobody is connected any more, when nobody has asked for a while,
 * and when it needs too much memory; whoever asks next starts another one.
 */
const [weights = '', path = ''] = process.argv.slice(2)
const idleMs = 5 * 60_000
const maxMegabytes = 900
/** Answering is more urgent than embedding; on Linux 5 leaves it a quarter of a busy processor, which a question needs. */
const niceness = 5
const threads = Math.min(availableParallelism(), 4)

interface Job extends Request {
  id: number
  socket: Socket
}

const queue = createQueue<Job>()
const sockets = new Set<Socket>()
let lastUse = performance.now()
let model: Promise<BuiltInModel> | undefined
let isWorking = false

setPriority(niceness)
const server = await listen()
server?.on('connection', (socket) => void serve(socket))
if (server) await endWhenIdle()

/** Undefined if another process listens there. A socket without a listener is that of a process that was killed. */
async function listen(): Promise<Server | undefined> {
  for (let attempt = 0; attempt < 3; attempt++) {
    const made = createServer()
    const isListening = await new Promise<boolean>((resolve) => {
      made.once('error', () => resolve(false)).listen(path, () => resolve(true))
    })
    if (isListening) return made
    if (await isAnswered()) return undefined
    await rm(path, { force: true })
  }
  throw new Error(`it cannot listen at ${path}`)
}

function isAnswered(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

async function serve(socket: Socket): Promise<void> {
  sockets.add(socket)
  socket.on('error', () => socket.destroy())
  try {
    for await (const line of linesOf(socket, { maxCharacters: maxLineCharacters })) {
      const request = readEmbedRequest(line)
      if (request === undefined) break
      const { id, texts } = request
      lastUse = performance.now()
      if (texts === undefined) queue.remove((job) => job.socket === socket && job.id === id)
      else if (texts.length === 0) answer(socket, { id, vectors: '', tokens: 0 })
      else queue.add({ id, socket, texts, vectors: [], tokens: 0 })
      void work()
    }
  } catch {
    // The caller is gone, or sends what no caller of ours does.
  }
  socket.destroy()
  sockets.delete(socket)
  queue.remove((job) => job.socket === socket)
}

async function work(): Promise<void> {
  if (isWorking) return
  isWorking = true
  for (let job = queue.next(); job !== undefined; job = queue.next()) {
    try {
      model ??= loadModel(weights, threads)
      const { vector, tokens } = await (await model).embed(job.texts[job.vectors.length] ?? '')
      job.vectors.push(vector)
      job.tokens += tokens
    } catch (error) {
      if (!(await isLoaded())) model = undefined
      answer(job.socket, { id: job.id, problem: error instanceof Error ? error.message : String(error) })
      const failed = job
      queue.remove((one) => one === failed)
      continue
    }
    lastUse = performance.now()
    if (process.memoryUsage.rss() > maxMegabytes * 1024 * 1024) process.exit(1)
    if (job.vectors.length < job.texts.length) continue
    const done = job
    queue.remove((one) => one === done)
    answer(job.socket, { id: job.id, vectors: base64Of(job.vectors), tokens: job.tokens })
  }
  isWorking = false
}

function isLoaded(): Promise<boolean> {
  return Promise.resolve(model).then(
    () => true,
    () => false,
  )
}

function answer(socket: Socket, answered: Answered): void {
  socket.write(`${JSON.stringify(answered)}\n`)
}

function base64Of(vectors: Float32Array[]): string {
  return Buffer.concat(
    vectors.map((vector) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)),
  ).toString('base64')
}

async function endWhenIdle(): Promise<never> {
  do await sleep(1000)
  while (isWorking || (sockets.size > 0 && performance.now() - lastUse < idleMs) || performance.now() - lastUse < 1000)
  process.exit(0)
}
