import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { type OpenAI, toFile } from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listenOnLoopback } from '../support/http-server.ts'
import { startService, type TestService } from '../support/service.ts'
import { clientWith, refusalOf, v1Client } from './v1-client.ts'

interface Sent {
  path: string
  key: string | undefined
  fields: Record<string, (string | File)[]>
  json: Record<string, unknown> | undefined
}

/** A server of the interface's `/audio`, as faster-whisper and OpenAI answer. */
async function startAudioServer() {
  const sent: Sent[] = []
  let refuse: number | undefined
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request)
      const type = request.headers['content-type'] ?? ''
      const form = type.includes('multipart')
        ? await new Response(body, { headers: { 'content-type': type } }).formData()
        : undefined
      const path = request.url ?? ''
      const fields = Object.fromEntries([...(form?.keys() ?? [])].map((name) => [name, form?.getAll(name) ?? []]))
      const json = form === undefined ? (JSON.parse(body.toString()) as Sent['json']) : undefined
      sent.push({ path, key: request.headers.authorization, fields, json })
      if (refuse !== undefined) {
        response.writeHead(refuse, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message: 'Audio file might be corrupted (key sk-listen).' } }))
      } else if (path.endsWith('/speech')) {
        response.writeHead(200, { 'content-type': 'audio/mpeg' })
        response.write('ID3')
        response.end('sound')
      } else if (fields['response_format']?.[0] === 'srt') {
        response.writeHead(200, { 'content-type': 'text/html' })
        response.end('1\n00:00:00,000 --> 00:00:02,000\nHello.\n')
      } else {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ text: 'Hello.', usage: { type: 'duration', seconds: 90 } }))
      }
    })()
  })
  const port = await listenOnLoopback(server)
  return {
    url: `http://127.0.0.1:${port}/v1`,
    sent,
    failWith: (status: number | undefined) => {
      refuse = status
    },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

describe('/v1/audio', () => {
  let audio: Awaited<ReturnType<typeof startAudioServer>>
  let service: TestService
  beforeAll(async () => {
    audio = await startAudioServer()
    service = await startService({
      worker: false,
      env: {
        TRANSCRIPTION_BASE_URL: audio.url,
        TRANSCRIPTION_API_KEY: 'sk-listen',
        TRANSCRIPTION_MODEL: 'large-v3',
        SPEECH_BASE_URL: audio.url,
        SPEECH_VOICE: 'nova',
        MODEL_PRICES: JSON.stringify({ currency: 'usd', models: {}, minutes: { transcription: 2, speech: 1000 } }),
      },
    })
  })
  afterAll(async () => {
    await service.close()
    await audio.close()
  })
  const recording = () => toFile(Buffer.from('RIFFsound'), 'note.wav', { type: 'audio/wav' })

  it('writes down a recording with the model and the key of the settings, and counts its minutes', async () => {
    const { client, owner } = await v1Client(service)
    const answer = await client.audio.transcriptions.create({
      model: 'whisper-1',
      file: await recording(),
      language: 'en',
      timestamp_granularities: ['word', 'segment'],
      response_format: 'verbose_json',
    })
    expect(answer).toMatchObject({ text: 'Hello.' })
    const { path, key, fields = {} } = audio.sent.at(-1) ?? {}
    const [file] = fields['file'] ?? []
    expect({ path, key, model: fields['model'], language: fields['language'] }).toEqual({
      path: '/v1/audio/transcriptions',
      key: 'Bearer sk-listen',
      model: ['large-v3'],
      language: ['en'],
    })
    expect(fields['timestamp_granularities[]']).toEqual(['word', 'segment'])
    expect(file).toBeInstanceOf(File)
    expect(file instanceof File && [file.name, file.type, await file.text()]).toEqual([
      'note.wav',
      'audio/wav',
      'RIFFsound',
    ])
    const { work } = await owner.get('/user/usage')
    expect(work).toMatchObject({ transcription_seconds: 90, cost: 3 })
  })

  it('answers texts as texts, whatever the server calls them, and translations', async () => {
    const { client, owner } = await v1Client(service)
    const text = await client.audio.transcriptions.create({
      model: 'large-v3',
      file: await recording(),
      response_format: 'srt',
    })
    expect(text).toContain('00:00:02,000')
    const form = new FormData()
    form.set('model', 'large-v3')
    form.set('response_format', 'srt')
    form.set('file', new Blob(['RIFF']), 'a.wav')
    const headers = { authorization: `Bearer ${owner.token}` }
    const raw = await fetch(`${service.url}/v1/audio/transcriptions`, { method: 'POST', headers, body: form })
    expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await client.audio.translations.create({ model: 'whisper-1', file: await recording() })).toMatchObject({
      text: 'Hello.',
    })
    expect(audio.sent.at(-1)?.path).toBe('/v1/audio/translations')
  })

  it('reads a text aloud, and counts its characters', async () => {
    const { client, owner } = await v1Client(service)
    const sound = await client.audio.speech.create({ model: 'tts-1', voice: 'echo', input: 'Hello there.', speed: 1.5 })
    expect([sound.headers.get('content-type'), await sound.text()]).toEqual(['audio/mpeg', 'ID3sound'])
    expect(audio.sent.at(-1)?.json).toEqual({ model: 'tts-1', voice: 'echo', input: 'Hello there.', speed: 1.5 })
    await owner.call('POST', '/v1/audio/speech', { model: 'tts-1', input: 'Hi' })
    expect(audio.sent.at(-1)?.json).toMatchObject({ voice: 'nova' })
    expect((await owner.get('/user/usage')).work).toMatchObject({ speech_characters: 14, cost: 14 })
  })

  it('refuses what cannot be answered, with its name', async () => {
    const { client, owner } = await v1Client(service)
    const before = audio.sent.length
    const refused = async (members: object) =>
      refusalOf(
        client.audio.transcriptions.create({
          model: 'whisper-1',
          file: await recording(),
          ...members,
        } as OpenAI.Audio.TranscriptionCreateParams),
      )
    expect(await refused({ model: 'other' })).toMatchObject({ status: 400, param: 'model' })
    expect(await refused({ stream: true })).toMatchObject({ status: 400, param: 'stream' })
    expect(await refused({ voice: 'a' })).toMatchObject({ status: 400, param: 'voice' })
    expect(await refused({ file: await toFile(Buffer.alloc(25 * 1024 * 1024 + 1), 'a.wav') })).toMatchObject({
      status: 413,
    })
    const empty = await owner.call('POST', '/v1/audio/speech', { model: 'tts-1', input: '' })
    expect(empty.body.error).toMatchObject({ param: 'input' })
    expect(audio.sent.length).toBe(before)
  })

  it('says that the server failed, without its key, and asks none when the budget is spent', async () => {
    const { client, owner } = await v1Client(service)
    audio.failWith(500)
    const failed = await refusalOf(client.audio.transcriptions.create({ model: 'whisper-1', file: await recording() }))
    audio.failWith(undefined)
    expect([failed.status, JSON.stringify(failed.error)]).toEqual([502, expect.not.stringContaining('sk-listen')])
    await owner.put(`/projects/${owner.projectId}/budget`, { money: 1 })
    await client.audio.speech.create({ model: 'tts-1', voice: 'echo', input: 'Hello.' })
    const spent = await refusalOf(client.audio.speech.create({ model: 'tts-1', voice: 'echo', input: 'Hello.' }))
    expect(spent.status).toBe(402)
  })

  it('are 503 without their servers, and listed as models with them', async () => {
    const { client } = await v1Client(service)
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(expect.arrayContaining(['large-v3', 'tts-1']))
    const bare = await startService({ worker: false })
    try {
      const { owner } = await v1Client(bare)
      const none = clientWith(bare, owner.token)
      const missing = [
        await refusalOf(none.audio.transcriptions.create({ model: 'whisper-1', file: await recording() })),
        await refusalOf(none.audio.speech.create({ model: 'tts-1', voice: 'echo', input: 'Hello.' })),
      ]
      expect(missing.map(({ status }) => status)).toEqual([503, 503])
    } finally {
      await bare.close()
    }
  })
})
