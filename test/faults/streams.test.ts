import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compareIds } from '../../domain/ids.ts'
import { conversation } from '../runs/support.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startApiProcess } from '../support/processes.ts'
import { type ServerEvent, readEvents } from '../support/sse.ts'

/**
 * `STREAM_CUTS=1000 API_KILLS=200 SILENT_READERS=200 npm test -- test/faults/streams.test.ts` does as much as was once
 * measured.
 */
const cuts = Number(process.env['STREAM_CUTS'] ?? 60)
const kills = Number(process.env['API_KILLS'] ?? 3)
const silentReaders = Number(process.env['SILENT_READERS'] ?? 10)

/** What a reader put together, over all of its connections. */
interface PutTogether {
  names: string[]
  texts: Map<string, string>
  lastId: string | undefined
  isOver: boolean
}

const nothing = (): PutTogether => ({ names: [], texts: new Map(), lastId: undefined, isOver: false })

/** Takes an event in; ids only rise, texts only grow, and nothing follows the end. */
function take(state: PutTogether, { event, id, data }: ServerEvent): void {
  expect(state.isOver, `${event} after the end`).toBe(false)
  if (id === undefined) throw new Error(`${event} without an id`)
  if (state.lastId !== undefined) expect(compareIds(id, state.lastId), `${id} after ${state.lastId}`).toBeGreaterThan(0)
  state.lastId = id
  if (event !== 'data') state.names.push(event)
  if (event === 'data')
    for (const { data: message } of JSON.parse(data)) {
      const known = state.texts.get(message.id) ?? ''
      expect(message.content.startsWith(known), `${known} became ${message.content}`).toBe(true)
      state.texts.set(message.id, message.content)
    }
  state.isOver = event === 'end' || event === 'error'
}

/** Reads on where the reader is, for at most `bytes` bytes: the connection is cut wherever that is. */
async function readOn(client: ApiClient, runId: string, state: PutTogether, bytes: number): Promise<void> {
  const response = await client.fetch(
    'GET',
    `/runs/${runId}/stream`,
    undefined,
    state.lastId === undefined ? {} : { 'last-event-id': state.lastId },
  )
  expect(response.status).toBe(200)
  let left = bytes
  const limited = response.body?.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk.subarray(0, left))
        left -= chunk.length
        if (left <= 0) controller.terminate()
      },
    }),
  )
  for await (const event of readEvents(new Response(limited))) take(state, event)
}

describe('a stream that is cut at random and resumed', { timeout: 120_000 + cuts * 1_000 }, () => {
  const service = useModelService()
  const readersAtOnce = 10

  it(`is the uncut stream, in ${cuts} cuts`, async () => {
    let done = 0
    while (done < cuts) {
      const talk = await conversation(service)
      const words = Array.from({ length: 60 }, (_, index) => `word${index} `)
      service.model.reply({ text: words.flatMap((word, index) => [pause(index * 20), word]) })
      const { run_id: runId } = await talk.start('Count')
      const uncut = nothing()
      const readers = Array.from({ length: readersAtOnce }, async () => {
        const state = nothing()
        while (!state.isOver) {
          await readOn(talk.client, runId, state, randomInt(1, 4_000))
          if (!state.isOver) done++
        }
        return state
      })
      await readOn(talk.client, runId, uncut, Infinity)
      expect(uncut.names).toEqual(['start', 'metadata', 'end'])
      for (const reader of await Promise.all(readers)) {
        expect(reader.texts).toEqual(uncut.texts)
        expect(reader.names.at(-1)).toBe('end')
      }
      expect([...uncut.texts.values()]).toEqual([words.join('')])
    }
  })
})

describe('a stream whose API process is killed', { timeout: 120_000 + kills * 30_000 }, () => {
  const service = useModelService()
  const processes: (ServiceProcess & { url: string })[] = []
  beforeAll(async () => {
    for (let count = 0; count < 2; count++) processes.push(await startApiProcess(service.env))
  })
  afterAll(() => Promise.all(processes.map((process) => process.stop())))

  it(`is read on at another process, in ${kills} kills`, async () => {
    for (let kill = 0; kill < kills; kill++) {
      const [doomed, other] = processes.splice(0, 2)
      if (doomed === undefined || other === undefined) throw new Error('two processes are needed')
      const talk = await conversation(service)
      const gate = Promise.withResolvers<void>()
      const before = randomInt(1, 10)
      const words = Array.from({ length: 12 }, (_, index) => `word${index} `)
      service.model.reply({ text: [...words.slice(0, before), gate.promise, ...words.slice(before)] })
      const { run_id: runId } = await talk.start('Count')
      const state = nothing()
      const said = words.slice(0, before).join('')
      const { token } = talk.client
      const reading = readOn(apiClient(doomed.url, token), runId, state, Infinity).catch(() => undefined)
      await eventually('the text before the kill', () => [...state.texts.values()][0] === said)
      await doomed.kill()
      await reading
      expect(state.isOver).toBe(false)
      gate.resolve()
      await readOn(apiClient(other.url, token), runId, state, Infinity)
      expect([...state.texts.values()]).toEqual([words.join('')])
      expect(state.names).toEqual(['start', 'metadata', 'end'])
      processes.push(other, await startApiProcess(service.env))
    }
  })
})

describe(`${silentReaders} clients that never read`, { timeout: 180_000 }, () => {
  const service = useModelService()
  /** The buffer of a connection. Beside it there is the newest state of the answer, which is sent whole. */
  const limitBytes = 64 * 1024

  it('cost the API at most 64 KB each besides the newest state, and delay no other reader', async () => {
    const accepted = new Set<Socket>()
    service.api.app.server.on('connection', (socket: Socket) => accepted.add(socket))
    const talk = await conversation(service)
    // Each event shows the whole message so far: together more than the buffers of the system hold.
    const pieces = ['x'.repeat(30_000), ...Array.from({ length: 300 }, (_, index) => ` word${index}`)]
    const begin = Promise.withResolvers<void>()
    service.model.reply({
      text: [begin.promise, ...pieces.flatMap((piece, index) => [begin.promise.then(() => pause(index * 30)), piece])],
    })
    const { run_id: runId } = await talk.start('Speak')
    const { hostname, port } = new URL(service.url)
    const silent = Array.from({ length: silentReaders }, () => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on('error', () => undefined).pause()
      socket.write(
        `GET /runs/${runId}/stream HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${talk.client.token}\r\n\r\n`,
      )
      return socket
    })
    await eventually('the connections', () => accepted.size >= silentReaders)
    let worst = 0
    const measuring = setInterval(() => {
      worst = Math.max(worst, ...[...accepted].map((socket) => socket.writableLength))
    }, 20)
    begin.resolve()
    const state = nothing()
    await readOn(talk.client, runId, state, Infinity)
    clearInterval(measuring)
    for (const socket of silent) socket.destroy()
    expect([...state.texts.values()]).toEqual([pieces.join('')])
    const newestState = pieces.join('').length + 1_000
    expect(worst).toBeLessThanOrEqual(limitBytes + newestState)
  })
})
