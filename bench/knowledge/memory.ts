import { setTimeout as pause } from 'node:timers/promises'
import type { BenchContext } from '../environment.ts'
import { table } from '../statistics.ts'
import { newKnowledge } from './client.ts'

const bytes = Number(process.env['BENCH_UPLOAD_MIB'] || 1024) * 1024 ** 2
const watchMs = 20 * 60_000

/**
 * Resident memory while 1 GiB of text (or `BENCH_UPLOAD_MIB`) is uploaded and processed. The upload is generated while
 * it is sent, so that no process holds it. Processing is observed to its end, for at most twenty minutes.
 */
export async function benchMemory(context: BenchContext): Promise<void> {
  const client = await newKnowledge(context)
  await client.upload([{ name: 'warm-up.txt', content: new Blob(['A first file. '.repeat(200_000)]) }])
  const { api, worker, database } = context
  const before = {
    api: await api.memoryMiB(),
    worker: await worker.memoryMiB(),
    database: await database.memoryMiB(),
  }
  const most = { ...before }
  let isOver = false
  const sampling = (async () => {
    while (!isOver) {
      most.api = Math.max(most.api, await api.memoryMiB())
      most.worker = Math.max(most.worker, await worker.memoryMiB())
      most.database = Math.max(most.database, await database.memoryMiB())
      await pause(100)
    }
  })().catch(() => context.log('a process that was watched is gone'))

  const startedAt = performance.now()
  const answer = await fetch(`${context.url}/assistants/${client.assistantId}/files?wait=false`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.token}`, 'content-type': 'multipart/form-data; boundary=gigabyte' },
    body: ReadableStream.from(form()),
    duplex: 'half',
  })
  if (!answer.ok) throw new Error(`the upload answered ${answer.status}`)
  const uploadSeconds = (performance.now() - startedAt) / 1000
  const afterUpload = { ...most }

  const path = `/assistants/${client.assistantId}/files`
  type List = { files: { id: string; size: number; metadata: { status: string; chunks: number; embedded: number } }[] }
  const end = Date.now() + watchMs
  let file: List['files'][number] | undefined
  do {
    await pause(1000)
    const list = await client.call<List>('GET', path).catch((error: unknown) => {
      context.log(`${((performance.now() - startedAt) / 1000).toFixed(0)} s: ${String(error).slice(0, 200)}`)
    })
    file = list?.files.find(({ size }) => size >= bytes) ?? file
  } while (Date.now() < end && file?.metadata.status !== 'ready' && file?.metadata.status !== 'failed')
  isOver = true
  await sampling
  const growth = (now: number, then: number) => `${(now - then).toFixed(0)} MiB`
  context.log(
    `\n### Growth of resident memory with an upload of ${bytes / 1024 ** 2} MiB (goal: below 64 MiB for the API, 128 for the worker)\n`,
  )
  context.log(
    table(
      ['', 'before', 'growth during the upload', 'growth until the end'],
      [
        ['API', `${before.api.toFixed(0)} MiB`, growth(afterUpload.api, before.api), growth(most.api, before.api)],
        [
          'worker',
          `${before.worker.toFixed(0)} MiB`,
          growth(afterUpload.worker, before.worker),
          growth(most.worker, before.worker),
        ],
        [
          'database',
          `${before.database.toFixed(0)} MiB`,
          growth(afterUpload.database, before.database),
          growth(most.database, before.database),
        ],
      ],
    ),
  )
  context.log(
    `\nThe database held ${most.database.toFixed(0)} MiB at most (goal: 1,024), ${afterUpload.database.toFixed(0)} until all bytes were stored.`,
  )
  const { status = '?', chunks = 0, embedded = 0 } = file?.metadata ?? {}
  const megabytesPerSecond = (bytes / 1024 ** 2 / uploadSeconds).toFixed(0)
  context.log(
    `\nStored in ${uploadSeconds.toFixed(1)} s (${megabytesPerSecond} MiB/s). Watched for ${((performance.now() - startedAt) / 1000 - uploadSeconds).toFixed(0)} s of processing: ${status}, ${chunks} chunks extracted, ${embedded} embedded.`,
  )
}

function* form(): Generator<Uint8Array> {
  const text = (value: string) => new TextEncoder().encode(value)
  yield text(
    '--gigabyte\r\nContent-Disposition: form-data; name="files"; filename="gigabyte.txt"\r\nContent-Type: text/plain\r\n\r\n',
  )
  let sent = 0
  for (let line = 0; sent < bytes; line++) {
    const piece = text(
      `Entry ${line} of the log of the harbour: the wind is from the west and the tide is ${line % 12} feet. `.repeat(
        600,
      ) + '\n\n',
    )
    sent += piece.length
    yield piece
  }
  yield text('\r\n--gigabyte--\r\n')
}
