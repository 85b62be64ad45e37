import { request as httpRequest } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type OpenAI from 'openai'
import { toFile } from 'openai'
import { startHttpServer } from '../../support/http-server.ts'

type Made = Record<string, string>

/** The client itself looks each five seconds. */
const poll = { pollIntervalMs: 50 }

/** What stands in a path behind these words is the id of such an object. */
const makers: Record<string, (client: OpenAI, made: Made) => Promise<string>> = {
  assistants: async (client) => (await client.beta.assistants.create({ model: 'scripted' })).id,
  threads: async (client) => (await client.beta.threads.create({ messages: [{ role: 'user', content: 'Hello' }] })).id,
  messages: async (client, { threads = '' }) =>
    (await client.beta.threads.messages.create(threads, { role: 'user', content: 'Hello' })).id,
  runs: async (client, { threads = '' }) => {
    const assistant = await client.beta.assistants.create({ model: 'scripted' })
    return (await client.beta.threads.runs.createAndPoll(threads, { assistant_id: assistant.id }, poll)).id
  },
  steps: async (client, { threads = '', runs = '' }) =>
    (await client.beta.threads.runs.steps.list(runs, { thread_id: threads })).data[0]?.id ?? '',
  files: async (client, { vector_stores: store, containers: container }) => {
    if (container !== undefined)
      return (await client.containers.files.create(container, { file: await toFile(Buffer.from('Hello'), 'a.txt') })).id
    const file = await client.files.create({ file: await toFile(Buffer.from('Hello'), 'a.txt'), purpose: 'assistants' })
    if (store !== undefined) await client.vectorStores.files.createAndPoll(store, { file_id: file.id }, poll)
    return file.id
  },
  vector_stores: async (client) => (await client.vectorStores.create({})).id,
  file_batches: async (client, { vector_stores: store = '' }) => {
    const file = await client.files.create({ file: await toFile(Buffer.from('Hello'), 'a.txt'), purpose: 'assistants' })
    return (await client.vectorStores.fileBatches.create(store, { file_ids: [file.id] })).id
  },
  uploads: async (client) => {
    const upload = { bytes: 1000, filename: 'a.txt', mime_type: 'text/plain', purpose: 'assistants' } as const
    return (await client.uploads.create(upload)).id
  },
  completions: async (client) => {
    const asked = { model: 'scripted', messages: [{ role: 'user' as const, content: 'Hello' }], store: true }
    return (await client.chat.completions.create(asked)).id
  },
  responses: async (client) => (await client.responses.create({ model: 'scripted', input: 'Hello' })).id,
  containers: async (client) => (await client.containers.create({ name: 'a' })).id,
  conversations: async (client) => (await client.conversations.create({})).id,
  items: async (client, { conversations = '' }) => {
    const items = [{ role: 'user' as const, content: 'Hello' }]
    return (await client.conversations.items.create(conversations, { items })).data[0]?.id ?? ''
  },
}
/** Ids that the suite makes up; everything else of a path is sent as it is. */
const placeholder = /^(?:[a-z_]+_id|[a-z]+[-_]abc\d*|conv_123|resp_677efb5139a88190b512bc3fef8e535d)$/
/** The same in bodies, by their members. */
const inBodies: Record<string, keyof typeof makers> = {
  assistant_id: 'assistants',
  file_id: 'files',
  previous_response_id: 'responses',
}

/**
 * Stands before a service and puts ids of objects that it has just made in the places of made-up ones, and the key of
 * the client.
 */
export async function startPlaceholderProxy(target: string, client: OpenAI) {
  return startHttpServer(async (request, response) => {
    const made: Made = {}
    const { pathname, search } = new URL(request.url ?? '/', target)
    const words = pathname.split('/')
    for (const [index, word] of words.entries()) {
      const kind = words[index - 1] ?? ''
      const make = makers[kind]
      if (make === undefined || !placeholder.test(word)) continue
      const id = await make(client, made)
      made[kind] = id
      words[index] = id
    }
    let body = await buffer(request)
    if (request.headers['content-type']?.startsWith('application/json') === true) {
      let text = body.toString('utf8')
      for (const [member, kind] of Object.entries(inBodies)) {
        const place = new RegExp(`"${member}":\\s?"(?:[a-z_]+_id|file-abc123|resp_123)"`)
        if (place.test(text))
          text = text.replaceAll(new RegExp(place, 'g'), `"${member}":"${await makers[kind]?.(client, {})}"`)
      }
      body = Buffer.from(text)
    }
    const { host: _host, 'content-length': _length, 'transfer-encoding': _encoding, ...headers } = request.headers
    const length = body.length > 0 ? { 'content-length': body.length } : {}
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const upstream = httpRequest(
      new URL(`${words.join('/')}${search}`, target),
      { method: request.method, headers: { ...headers, ...length, authorization: `Bearer ${client.apiKey}` } },
      (answer) => {
        buffer(answer)
          .then((bytes) => {
            const { 'content-length': _answered, ...shown } = answer.headers
            response.writeHead(answer.statusCode ?? 502, shown)
            response.end((answer.statusCode ?? 502) < 400 ? bytes : shortError(bytes))
          })
          .then(resolve, reject)
      },
    )
    upstream.on('error', reject)
    upstream.end(body)
    await promise
  })
}

/** The client shows the message of an error only: it becomes the code and the member. */
function shortError(bytes: Buffer): string {
  const { error }: { error: { code: string; param: string | null } } = JSON.parse(bytes.toString('utf8'))
  return JSON.stringify({ error: { ...error, message: [error.code, error.param].filter(Boolean).join(' ') } })
}
