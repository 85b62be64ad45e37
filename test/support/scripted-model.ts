import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ToolCall } from '../../local/demo-model/chat-wire.ts'
import { answerShapes, embeddingList, errorBody, sseDone, sseFrame, usageOf } from '../../local/demo-model/chat-wire.ts'
import { embedByHashing } from '../../local/demo-model/embed.ts'
import { readJson, sendJson, startHttpServer } from './http-server.ts'

/** What one request is answered. Members are used in the order in which they stand here. */
export interface ScriptedReply {
  /** Only for requests that this accepts; other replies of the script are looked at in order. */
  when?: (request: ChatRequest) => boolean
  /** Nothing at all is sent before this settles. */
  after?: Promise<unknown>
  /** Answers this error status and nothing else. */
  status?: number
  /** `Retry-After`, with `status`. */
  retryAfterSeconds?: number
  errorMessage?: string
  /** Written as it is, with `status`, in place of an error of the interface. */
  errorBody?: string
  /** Pieces of the answer, each its own chunk. A promise among them is a gate: what follows waits for it. */
  text?: string | (string | Promise<unknown>)[]
  /** Pieces of what the model says instead of an answer; only in streams. */
  refusal?: string[]
  /** `arguments` in pieces, each its own chunk (promises are gates), or whole: a value becomes JSON. */
  toolCalls?: ScriptedToolCall[]
  /** Written as it is, with status 200, in place of an answer. Promises are gates. */
  raw?: (string | Promise<unknown>)[]
  /** Ends the connection after the chunks, without a finish and without `[DONE]`. */
  breakConnection?: boolean
  finishReason?: 'stop' | 'tool_calls' | 'length' | 'content_filter'
  /** `details` go into the answer beside the counts. */
  usage?: { prompt_tokens: number; completion_tokens: number; details?: object }
}

export interface ScriptedToolCall {
  id?: string
  name: string
  arguments: string | object | (string | Promise<unknown>)[]
}

/** A recorded request of `POST /chat/completions`. */
export interface ChatRequest {
  headers: IncomingMessage['headers']
  body: {
    model: string
    messages: { role: string; content?: unknown; tool_calls?: ToolCall[]; tool_call_id?: string; name?: string }[]
    stream?: boolean
    stream_options?: { include_usage?: boolean }
    tools?: { type: string; function: { name: string; description?: string; parameters?: unknown } }[]
    temperature?: number
    max_tokens?: number
    max_completion_tokens?: number
    [parameter: string]: unknown
  }
}

export interface ReplyHandle {
  /** Resolves with the request that got this reply, when it arrives. */
  arrived: Promise<ChatRequest>
  /** Resolves when the answer is over: `sent` whole, or `dropped` because the client (or the script) cut it. */
  ended: Promise<'sent' | 'dropped'>
}

export interface EmbeddingFailure {
  status: number
  retryAfterSeconds?: number
  /** How many requests fail; default 1. */
  times?: number
}

/** What is answered when the script is at its end. */
export type Respond = (request: ChatRequest) => ScriptedReply

export type ScriptedModel = Awaited<ReturnType<typeof startScriptedModel>>

/**
 * A real HTTP server of the chat-completions and embeddings interfaces that says what a test tells it
 * to. Requests take the replies of the script in order. When none is left (and no `respond` is given)
 * the request gets a 400 that says so, and `close` throws.
 */
export async function startScriptedModel({ respond }: { respond?: Respond } = {}) {
  let fallback = respond
  const script: { reply: ScriptedReply; handle: ReturnType<typeof newHandle> }[] = []
  const requests: ChatRequest[] = []
  const problems: string[] = []
  const embeddings = {
    requests: 0,
    inputs: [] as string[],
    headers: [] as IncomingMessage['headers'][],
    failures: [] as EmbeddingFailure[],
    gate: Promise.resolve<unknown>(undefined),
    freeRequests: 0,
    isHeld: allInputs,
  }
  let counter = 0
  const listing = { ids: ['scripted'], status: 200, requests: 0 }

  const server = await startHttpServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    if (path === '/v1/chat/completions') return chat(request, response)
    if (path === '/v1/embeddings') return embed(request, response)
    if (path === '/v1/models') {
      listing.requests += 1
      if (listing.status !== 200) return sendError(response, { status: listing.status })
      return sendJson(response, 200, { object: 'list', data: listing.ids.map(modelObject) })
    }
    sendJson(response, 404, errorBody(`no such path: ${path}`, 'invalid_request_error'))
  })

  async function chat(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request: ChatRequest = { headers: incoming.headers, body: await readJson<ChatRequest['body']>(incoming) }
    requests.push(request)
    const next = script.findIndex(({ reply }) => reply.when?.(request) ?? true)
    const [scripted] = next < 0 ? [] : script.splice(next, 1)
    const reply = scripted?.reply ?? fallback?.(request)
    if (reply === undefined) {
      const problem = `the script has no answer left for request ${requests.length}: ${JSON.stringify(request.body.messages.at(-1))}`
      problems.push(problem)
      return sendJson(response, 400, errorBody(`scripted model: ${problem}`, 'script_ended'))
    }
    scripted?.handle.arrived.resolve(request)
    response.once('close', () => scripted?.handle.ended.resolve(response.writableFinished ? 'sent' : 'dropped'))
    await play(reply, request, response, () => `call_${++counter}`)
  }

  async function embed(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson<EmbeddingRequest>(incoming)
    const inputs = [body.input].flat().map(String)
    embeddings.requests++
    embeddings.headers.push(incoming.headers)
    if (embeddings.requests > embeddings.freeRequests && inputs.some((input) => embeddings.isHeld(input)))
      await embeddings.gate
    const failure = embeddings.failures[0]
    if (failure) {
      failure.times = (failure.times ?? 1) - 1
      if (failure.times <= 0) embeddings.failures.shift()
      return sendError(response, failure)
    }
    embeddings.inputs.push(...inputs)
    const vectors = inputs.map((input) => embedByHashing(input, body.dimensions ?? 1536))
    sendJson(response, 200, embeddingList(body.model, vectors, body.encoding_format ?? 'float', inputs.length))
  }

  /** Throws when a request found the script at its end. */
  function checkScript(): void {
    if (problems.length > 0) throw new Error(problems.join('\n'))
  }

  return {
    /** For `OPENAI_BASE_URL`. */
    url: `${server.url}/v1`,
    /** Settings of a service that uses this model. */
    env: { OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_API_KEY: 'scripted-key', DEFAULT_MODEL: 'scripted' },
    /** Every chat request, in order of arrival. */
    requests,
    /** What `GET /models` lists, the status that it answers, and how often it was asked. */
    listing,
    /** Adds an answer to the end of the script. */
    reply(reply: ScriptedReply): ReplyHandle {
      const handle = newHandle()
      script.push({ reply, handle })
      return { arrived: handle.arrived.promise, ended: handle.ended.promise }
    },
    /** Replies that nobody has asked for yet. */
    get unused() {
      return script.length
    },
    embeddings: {
      /** Number of requests, failed ones included. */
      get requests() {
        return embeddings.requests
      },
      /** Every text that was embedded, in order. */
      inputs: embeddings.inputs,
      headers: embeddings.headers,
      fail: (failure: EmbeddingFailure) => {
        embeddings.failures.push({ ...failure })
      },
      /** From now on, or after `free` more, embedding requests with a text that `isHeld` wait for this. */
      waitFor: (gate: Promise<unknown>, free = 0, isHeld: (input: string) => boolean = allInputs) => {
        embeddings.gate = gate
        embeddings.isHeld = isHeld
        embeddings.freeRequests = embeddings.requests + free
      },
    },
    /** Forgets the script, and all that was asked and failed, for tests that know nothing of those before. */
    startAgain(next?: Respond) {
      fallback = next
      for (const list of [script, requests, problems, embeddings.inputs, embeddings.headers, embeddings.failures])
        list.length = 0
      Object.assign(embeddings, { requests: 0, gate: Promise.resolve(), freeRequests: 0, isHeld: allInputs })
    },
    checkScript,
    /** Throws when a request found the script at its end. */
    async close() {
      await server.close()
      checkScript()
    },
  }
}

const allInputs = (_input: string): boolean => true

const modelObject = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'test' })

interface EmbeddingRequest {
  model: string
  /** Texts, or texts as lists of tokens. */
  input: string | string[] | number[][]
  dimensions?: number
  encoding_format?: 'float' | 'base64'
}

function newHandle() {
  return { arrived: Promise.withResolvers<ChatRequest>(), ended: Promise.withResolvers<'sent' | 'dropped'>() }
}

async function play(
  reply: ScriptedReply,
  request: ChatRequest,
  response: ServerResponse,
  newCallId: () => string,
): Promise<void> {
  await reply.after
  if (reply.status !== undefined) return sendError(response, { ...reply, status: reply.status })
  if (reply.raw !== undefined) return playRaw(reply.raw, response)
  const shapes = answerShapes(request.body.model)
  const { prompt_tokens: prompt = 10, completion_tokens: completion = 5, details } = reply.usage ?? {}
  const usage = { ...usageOf(prompt, completion), ...details }
  const finishReason = reply.finishReason ?? (reply.toolCalls ? 'tool_calls' : 'stop')
  const calls = (reply.toolCalls ?? []).map((call) => ({ ...call, id: call.id ?? newCallId() }))

  if (request.body.stream !== true) {
    const text = (await piecesOf(reply.text ?? [])).join('')
    const whole: ToolCall[] = []
    for (const { id, name, arguments: given } of calls) {
      whole.push({ id, type: 'function', function: { name, arguments: (await piecesOf(given)).join('') } })
    }
    if (reply.breakConnection) return void response.destroy()
    return sendJson(response, 200, shapes.completion(text || null, whole, finishReason, usage))
  }

  const closed = once(response, 'close').catch(() => undefined)
  const write = async (value: unknown) => {
    if (!response.write(sseFrame(value))) await Promise.race([once(response, 'drain'), closed])
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  await write(shapes.chunk({ role: 'assistant', content: '' }))
  await eachPiece(reply.text ?? [], (content) => write(shapes.chunk({ content })))
  for (const refusal of reply.refusal ?? []) await write(shapes.chunk({ refusal }))
  for (const [index, { id, name, arguments: given }] of calls.entries()) {
    await write(shapes.chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }))
    await eachPiece(given, (piece) => write(shapes.chunk({ tool_calls: [{ index, function: { arguments: piece } }] })))
  }
  // What was written arrives, then the connection ends without the last chunk of the transfer.
  if (reply.breakConnection) return void response.socket?.end()
  await write(shapes.chunk({}, finishReason))
  if (request.body.stream_options?.include_usage) await write(shapes.usageChunk(usage))
  response.end(sseDone)
}

async function playRaw(raw: (string | Promise<unknown>)[], response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  const closed = once(response, 'close').catch(() => undefined)
  await eachPiece(raw, async (piece) => {
    if (!response.destroyed && !response.write(piece)) await Promise.race([once(response, 'drain'), closed])
  })
  response.end()
}

type Pieces = string | object | (string | Promise<unknown>)[]

async function eachPiece(pieces: Pieces, use: (piece: string) => Promise<void>): Promise<void> {
  if (!Array.isArray(pieces)) return use(typeof pieces === 'string' ? pieces : JSON.stringify(pieces))
  for (const piece of pieces) {
    if (typeof piece === 'string') await use(piece)
    else await piece
  }
}

async function piecesOf(pieces: Pieces): Promise<string[]> {
  const all: string[] = []
  await eachPiece(pieces, async (piece) => void all.push(piece))
  return all
}

function sendError(
  response: ServerResponse,
  error: { status: number; retryAfterSeconds?: number; errorMessage?: string; errorBody?: string },
): void {
  if (error.retryAfterSeconds !== undefined) response.setHeader('retry-after', String(error.retryAfterSeconds))
  if (error.errorBody !== undefined)
    return void response.writeHead(error.status, { 'content-type': 'application/json' }).end(error.errorBody)
  sendJson(response, error.status, errorBody(error.errorMessage ?? `scripted status ${error.status}`, 'scripted_error'))
}
