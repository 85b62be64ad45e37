import { parentPort, workerData } from 'node:worker_threads'
import { newIdsFor } from '../../domain/archive/new-ids.ts'
import { renamedMessage } from '../../domain/archive/renamed-message.ts'
import { AppError } from '../../domain/errors.ts'
import type { FromThread, ReadJob, Said, ToThread } from './messages.ts'
import { readMembers } from './read-members.ts'
import { readTar } from './read-tar.ts'
import { unpack } from './unpack.ts'

const job: unknown = workerData
const { maxMb, userId } = job as ReadJob
const idOf = newIdsFor(userId)
let unpacked = 0
let piece = Promise.withResolvers<Uint8Array | undefined>()
let answer = Promise.withResolvers<void>()

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'continue') answer.resolve()
  else piece.resolve(message.type === 'piece' ? message.bytes : undefined)
})

try {
  for await (const item of readMembers(readTar(counted(unpack(pieces(), maxMb))), (message) =>
    renamedMessage(message, idOf),
  )) {
    if (item.type !== 'file') {
      await say(item)
      continue
    }
    const { content, ...announced } = item
    await say(announced)
    for await (const part of content) {
      // Copied: the rest of its buffer stays here.
      const bytes = new Uint8Array(part)
      await say({ type: 'bytes', bytes }, [bytes.buffer])
    }
    await say({ type: 'file-end' })
  }
  await say({ type: 'done' })
} catch (error) {
  if (!(error instanceof AppError)) throw error
  const { code, message, fields } = error
  await say({ type: 'failed', code, message, ...(fields === undefined ? {} : { fields }) })
}

async function* pieces(): AsyncGenerator<Uint8Array, undefined> {
  for (;;) {
    piece = Promise.withResolvers()
    send({ type: 'more' })
    const bytes = await piece.promise
    if (bytes === undefined) return
    yield bytes
  }
}

async function* counted(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, undefined> {
  for await (const bytes of source) {
    unpacked += bytes.length
    yield bytes
  }
}

function say(said: Said, transfer: ArrayBuffer[] = []): Promise<void> {
  answer = Promise.withResolvers()
  send({ ...said, unpacked }, transfer)
  return answer.promise
}

function send(message: FromThread, transfer: ArrayBuffer[] = []): void {
  parentPort?.postMessage(message, transfer)
}
