import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { vectorSpace } from '../../domain/knowledge/vector-space.ts'
import { chunksInGroup, chunksOf } from '../../domain/records/chunk-group.ts'
import { embeddingBatch, embeddingsAtOnce } from '../../services/knowledge/embed-chunks.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { startModelService, useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startWorkerProcess } from '../support/processes.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

/** A CSV file whose rows fill about `chunks` chunks. */
function table(chunks: number): string {
  const row = (index: number) => `Ship ${index},${'cargo of coal and timber '.repeat(14)}${index}\n`
  return `Name,Cargo\n${Array.from({ length: chunks * 5 }, (_, index) => row(index)).join('')}`
}

const env = { EMBEDDING_DIMENSIONS: '32' }

describe('ingestion', () => {
  const service = useModelService({ env })

  it('is answered at once with wait=false, and sends its progress as events', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise)
    const { body } = await client.upload([{ name: 'log.csv', content: table(300) }], '?wait=false')
    expect(body.files[0].metadata.status).toBe('queued')
    const path = `/assistants/${client.assistantId}/ingestions/${body.ingestion_id}`
    await eventually('chunks are there', async () => (await client.call('GET', path)).body.files[0].metadata.chunks > 0)
    const reading = allEvents(await client.fetch('GET', `${path}/events`))
    gate.resolve()
    const events = await reading
    expect(events.at(-1)?.event).toBe('end')
    const views = events.filter(({ event }) => event === 'progress').map(({ data }) => JSON.parse(data))
    const steps = views.map((view) => view.progress)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    expect(steps[0]).toBeLessThan(1)
    expect(views.at(-1)).toMatchObject({ status: 'done', progress: 1, files: [{ metadata: { status: 'ready' } }] })
    const handle = service.temporal.workflow.getHandle(`ingestion/${body.ingestion_id}`)
    // The file is ready in the database a moment before the workflow hears of it.
    await handle.result()
    expect(await handle.query('progress')).toMatchObject({
      total: 1,
      current: null,
      outcomes: { [body.files[0].id]: 'ready' },
    })
    expect((await client.call('GET', `/assistants/${client.assistantId}/ingestions/none`)).status).toBe(404)
    const stranger = await insertUser(service)
    expect((await stranger.call('GET', `${path}/events`)).status).toBe(403)
  })

  it('gives the owner the bytes of a file back, as nothing that a browser would open', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const content = '<script>alert(1)</script>\n'.repeat(3)
    const { body } = await client.upload([{ name: 'page.html', content }])
    const path = `/assistants/${client.assistantId}/files/${body.files[0].id}/content`
    const response = await client.fetch('GET', path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/octet-stream')
    expect(response.headers.get('content-disposition')).toBe('attachment')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('content-length')).toBe(String(content.length))
    expect(await response.text()).toBe(content)
    expect((await client.call('GET', `/assistants/${client.assistantId}/files/none/content`)).status).toBe(404)
    expect((await (await insertUser(service)).fetch('GET', path)).status).toBe(403)
  })

  it('waits as long as the embedding server asks, and retries after its failures', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const before = service.model.embeddings.requests
    service.model.embeddings.fail({ status: 429, retryAfterSeconds: 1 })
    service.model.embeddings.fail({ status: 503, times: 2 })
    const { body } = await client.upload([{ name: 'a.txt', content: 'A short text about tides.' }])
    expect(body.files[0].metadata).toMatchObject({ status: 'ready', embedded: 1 })
    expect(service.model.embeddings.requests - before).toBe(4)
    const history = await service.temporal.workflow.getHandle(`ingestion/${body.ingestion_id}`).fetchHistory()
    expect(JSON.stringify(history)).not.toContain('tides')
  })

  it('fails only the file that the embedding server refuses, with the reason', async () => {
    const client = await knowledgeClient(await insertUser(service))
    service.model.embeddings.fail({ status: 400 })
    const { body } = await client.upload([
      { name: 'refused.txt', content: 'First.' },
      { name: 'taken.txt', content: 'Second.' },
    ])
    const [refused, taken] = body.files
    expect(refused.metadata).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(
        /^The embedding server refused the request .*The file is not the cause: it can be retried\.$/,
      ),
      retryable: true,
      chunks: 0,
    })
    expect(taken.metadata.status).toBe('ready')
    expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(1)
  })

  it('stops at once for a file that is deleted meanwhile, and leaves nothing of it', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise)
    const { body } = await client.upload([{ name: 'log.csv', content: table(600) }], '?wait=false')
    const [file] = body.files
    await eventually(
      'the file is extracted',
      async () => (await service.collections.files.findById(file.id).lean())?.extracted,
    )
    expect((await client.call('DELETE', `/assistants/${client.assistantId}/files/${file.id}`)).status).toBe(200)
    // The embedding server has not answered yet.
    const result = await service.temporal.workflow.getHandle(`ingestion/${body.ingestion_id}`).result()
    expect(result).toEqual({ ready: 0, failed: 0, gone: 1 })
    expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(0)
    expect(await service.collections.chunks.countDocuments({ assistant_id: client.assistantId })).toBe(0)
    expect((await client.list()).body).toEqual({ files: [] })
    gate.resolve()
    expect((await client.call('GET', `/receipts/${file.id}`)).body).toMatchObject({
      kind: 'file',
      subject_id: file.id,
      status: 'complete',
      found: { files: 1, chunks: expect.any(Number), blobs: 1 },
      left: { files: 0, chunks: 0, vectors: 0, blobs: 0 },
    })
    const stranger = await insertUser(service)
    expect((await stranger.call('GET', `/receipts/${file.id}`)).status).toBe(404)
  })

  it('stores lost vectors again', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const { vectors } = service.api.infra.knowledge
    const gate = Promise.withResolvers<void>()
    const path = `/assistants/${client.assistantId}/files`
    await client.upload([{ name: 'first.txt', content: 'Makes the space.' }])
    // The batches behind the first wait.
    service.model.embeddings.waitFor(gate.promise, 1)
    const uploading = client.upload([{ name: 'log.csv', content: table(3 * embeddingBatch) }])
    const file = async () => (await client.call('GET', path)).body.files[1]
    await eventually('a batch is stored', async () => (await file())?.metadata.embedded > 0)
    const { id } = await file()
    await vectors.deleteFile(client.assistantId, id)
    gate.resolve()
    const { body } = await uploading
    const { status, chunks, embedded } = body.files[0].metadata
    expect({ status, embedded }).toEqual({ status: 'ready', embedded: chunks })
    expect(await vectors.count(client.assistantId, id)).toBe(chunks)
  })

  it('separates the files of simultaneous uploads', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const uploads = Array.from({ length: 6 }, (_, index) =>
      client.upload([{ name: `${index}.txt`, content: `File ${index} about harbour ${index}.` }]),
    )
    const answers = await Promise.all(uploads)
    expect(answers.map(({ body }) => body.files[0].metadata.status)).toEqual(Array(6).fill('ready'))
    expect(new Set(answers.map(({ body }) => body.ingestion_id)).size).toBe(6)
    expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(6)
  })
})

describe('an upload', () => {
  const service = useModelService({ env })

  const stored = async () => {
    const { db } = service.api.infra.database.connection
    return {
      files: await service.collections.files.countDocuments(),
      blobs: await db?.collection('blobs.files').countDocuments(),
      pieces: await db?.collection('blobs.chunks').countDocuments(),
    }
  }
  const nothing = { files: 0, blobs: 0, pieces: 0 }

  it.each([
    ['with its length said', (body: number) => `content-length: ${body}`],
    ['in pieces', () => 'transfer-encoding: chunked'],
  ])('that is interrupted (%s) leaves nothing, not even its first files', async (_how, framing) => {
    const client = await knowledgeClient(await insertUser(service))
    const url = new URL(service.url)
    const socket = connect(Number(url.port), url.hostname)
    await once(socket, 'connect')
    const part = (name: string) =>
      `--cut\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n`
    const begin = `${part('whole.txt')}all of it\r\n${part('cut.txt')}`
    const header = framing(50_000_000)
    const frame = (text: string) =>
      header.startsWith('content') ? text : `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
    socket.write(
      `POST /assistants/${client.assistantId}/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${client.token}\r\n` +
        `content-type: multipart/form-data; boundary=cut\r\n${header}\r\n\r\n`,
    )
    socket.write(frame(begin))
    socket.write(frame('x'.repeat(3_000_000)))
    await eventually('two pieces are stored', async () => ((await stored()).pieces ?? 0) >= 2)
    socket.destroy()
    await eventually('nothing is left', async () => JSON.stringify(await stored()) === JSON.stringify(nothing))
    expect((await client.list()).body).toEqual({ files: [] })
  })

  it('that is malformed is refused and leaves nothing', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const send = (contentType: string, body: string) =>
      client.call('POST', `/assistants/${client.assistantId}/files`, body, { 'content-type': contentType })
    const begin = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\ntext'
    expect((await send('multipart/form-data; boundary=b', begin)).status).toBe(400)
    expect((await send('multipart/form-data', begin)).status).toBe(400)
    expect((await send('application/json', '{}')).status).toBe(415)
    const onlyField = '--b\r\nContent-Disposition: form-data; name="f"\r\n\r\nvalue\r\n--b--\r\n'
    const noFile = await send('multipart/form-data; boundary=b', onlyField)
    expect(noFile.status).toBe(422)
    expect(noFile.body).toMatchObject({ detail: [{ loc: ['body', 'files'], type: 'missing' }] })
    expect(await stored()).toEqual(nothing)
  })

  it('is refused for missing assistants, those of others, and those that cannot take files', async () => {
    const owner = await insertUser(service)
    const client = await knowledgeClient(owner)
    const other = await knowledgeClient(await insertUser(service))
    const file = { name: 'a.txt', content: 'text' }
    const to = async (assistantId: string, token: string | undefined) => {
      const form = new FormData()
      form.append('files', new Blob([file.content]), file.name)
      return (await apiClient(service.url, token).call('POST', `/assistants/${assistantId}/files`, form)).status
    }
    expect(await to(client.assistantId, undefined)).toBe(401)
    expect(await to(client.assistantId, other.token)).toBe(403)
    expect(await to('missing', client.token)).toBe(404)
    const tools = 'type==agent/tools'
    const odd = await knowledgeClient(owner, {
      [tools]: [{ type: 'retrieval' }, { type: 'retrieval', name: 'b' }],
    })
    const refused = await odd.upload([file])
    expect(refused.status).toBe(400)
    expect(refused.body.detail).toContain('cannot take files')
    expect((await client.call('GET', `/assistants/${other.assistantId}/files`)).status).toBe(403)
    expect((await client.call('DELETE', `/assistants/${other.assistantId}/files/x`)).status).toBe(403)
    expect(await stored()).toEqual(nothing)
  })
})

describe('a service that shuts down', () => {
  it('answers a waiting upload with its progress, and the ingestion continues', async () => {
    const service = await startModelService({ env, worker: false })
    const client = await knowledgeClient(await insertUser(service))
    const waiting = client.upload([{ name: 'a.txt', content: 'Read by nobody yet.' }])
    const ingestion = async () => (await service.collections.files.findOne().lean())?.ingestion_id ?? ''
    await eventually('the upload is taken', async () => (await ingestion()) !== '')
    const id = await ingestion()
    const handle = service.temporal.workflow.getHandle(`ingestion/${id}`)
    await eventually('its ingestion has begun', async () => (await handle.describe()).status.name === 'RUNNING')
    await service.api.app.close()
    const { status, body } = await waiting
    expect(status).toBe(200)
    expect(body).toMatchObject({ ingestion_id: id, files: [{ name: 'a.txt', metadata: { status: 'queued' } }] })
    expect((await handle.describe()).status.name).toBe('RUNNING')
    await handle.terminate()
    await service.close()
  })
})

describe('when the vector store does not answer', () => {
  it('returns 503 before anything is stored', async () => {
    const service = await startModelService({ env: { ...env, LANCEDB_URI: '/dev/null/lancedb' }, worker: false })
    try {
      const client = await knowledgeClient(await insertUser(service))
      const { status, body } = await client.upload([{ name: 'a.txt', content: 'text' }])
      expect(status).toBe(503)
      expect(body).toEqual({ detail: 'The vector store does not answer.' })
      expect(await service.collections.files.countDocuments()).toBe(0)
      expect((await client.call('GET', '/ok')).body.dependencies.vectors.status).toBe('down')
    } finally {
      await service.close()
    }
  })
})

describe('a worker that is killed', () => {
  it('in the middle of 2,000 chunks repeats only the batches under way, also when they are embedded anew', async () => {
    const service = await startModelService({ env, worker: false })
    const { embeddings } = service.model
    const texts = embeddings.inputs
    // Batches may be cut short where embedding had caught up with extraction, hence the slack of one round.
    const mayRepeat = embeddingBatch * (2 * embeddingsAtOnce + 1)
    /** Kills the worker when more has been embedded than may be repeated; the embedding server holds the rest until then. */
    const killInTheMiddle = async (
      worker: ServiceProcess,
      before: number,
      embedded: () => Promise<number | undefined>,
    ) => {
      const gate = Promise.withResolvers<void>()
      embeddings.waitFor(gate.promise, 0, () => texts.length - before > mayRepeat + 2 * embeddingBatch)
      await eventually('more is embedded', async () => ((await embedded()) ?? 0) > mayRepeat, 120_000)
      await worker.kill()
      gate.resolve()
    }
    try {
      const client = await knowledgeClient(await insertUser(service))
      const first = await startWorkerProcess(service.env)
      const { body } = await client.upload([{ name: 'log.csv', content: table(2_100) }], '?wait=false')
      const [{ id }] = body.files
      const record = async () => service.collections.files.findById(id).lean()
      await killInTheMiddle(first, 0, async () => (await record())?.embedded)
      expect(await record()).not.toMatchObject({ status: 'ready' })
      const second = await startWorkerProcess(service.env)
      await eventually('the file is ready', async () => (await record())?.status === 'ready', 120_000)
      const file = await record()
      const chunks = file?.chunks ?? 0
      expect(chunks).toBeGreaterThanOrEqual(2_000)
      expect(file?.embedded).toBe(chunks)
      expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(chunks)
      const groups = await service.collections.chunks.find({ file_id: id }).sort({ position: 1 }).lean()
      const positions = groups.flatMap(chunksOf).map(({ position }) => position)
      expect(positions).toEqual([...Array(chunks).keys()])
      expect(groups.length).toBe(Math.ceil(chunks / chunksInGroup))
      expect(texts.length - chunks).toBeLessThanOrEqual(mayRepeat)
      const distinct = new Set(texts.map((text) => createHash('sha1').update(text).digest('hex')))
      expect(distinct.size).toBe(chunks)

      // The same for a change of the model, which embeds the stored chunks.
      const before = texts.length
      const model = { embedding_model: 'old-model (32 dimensions)' }
      await service.collections.assistants.updateOne({ _id: client.assistantId }, { $set: model })
      const killed = killInTheMiddle(second, before, async () => (await record())?.next?.embedded)
      await client.call('POST', `/assistants/${client.assistantId}/reembedding`)
      await killed
      const third = await startWorkerProcess(service.env)
      const isDone = async () =>
        (await client.call('GET', `/assistants/${client.assistantId}/reembedding`)).body.status === 'current'
      await eventually('all are embedded anew', isDone, 120_000)
      await third.stop()
      const { vectors } = service.api.infra.knowledge
      expect(await vectors.count(vectorSpace(client.assistantId, 1))).toBe(chunks)
      expect(texts.length - before - chunks).toBeLessThanOrEqual(mayRepeat)
    } finally {
      await service.close()
    }
  }, 400_000)
})
