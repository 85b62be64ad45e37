import { randomUUID } from 'node:crypto'
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { type Answer, answerTo, textOf } from './answer.ts'
import { answerShapes, embeddingList, errorBody, sseDone, sseFrame, usageOf } from './chat-wire.ts'
import { embedByHashing } from './embed.ts'
import { BadRequest, ChatRequest, EmbeddingRequest, parseRequest } from './requests.ts'

export const demoModelName = 'demo-model'
export const demoEmbeddingName = 'demo-embedding'
const defaultDimensions = 1536
/** Large, and needed by the first question only. */
const tokenizer = () => import('../../domain/chunking/count-tokens.ts')
const maxBodyBytes = 32 * 1024 * 1024

/**
 * An OpenAI-compatible server that needs no model: `GET /v1/models`, `POST /v1/chat/completions` (whole or
 * streamed) and `POST /v1/embeddings`. Any model name is accepted; `demo-model` answers and says so. `tokenDelayMs`
 * is the pause between words, which makes streaming visible.
 */
export function createDemoModel({ tokenDelayMs }: { tokenDelayMs: number }): Server {
  return createServer((request, response) => {
    handle(request, response, tokenDelayMs).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else if (error instanceof BadRequest) sendJson(response, 400, errorBody(error.message, 'invalid_request_error'))
      else sendJson(response, 500, errorBody('the demo model failed', 'server_error'))
    })
  })
}

async function handle(request: IncomingMessage, response: ServerResponse, tokenDelayMs: number): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  switch (`${request.method} ${path}`) {
    case 'GET /v1/models': {
      const model = (id: string) => ({ id, object: 'model', created: 0, owned_by: 'demo' })
      return sendJson(response, 200, { object: 'list', data: [demoModelName, demoEmbeddingName].map(model) })
    }
    case 'POST /v1/chat/completions':
      return chat(parseRequest(ChatRequest, await readBody(request)), response, tokenDelayMs)
    case 'POST /v1/embeddings': {
      const wanted = parseRequest(EmbeddingRequest, await readBody(request))
      const inputs = [wanted.input].flat()
      const { countTokens } = await tokenizer()
      const vectors: number[][] = []
      let tokens = 0
      for (const input of inputs) {
        vectors.push(embedByHashing(input, wanted.dimensions ?? defaultDimensions))
        tokens += countTokens(input)
        // Other requests have their turn between two long texts.
        await nextTurn()
      }
      const list = embeddingList(demoEmbeddingName, vectors, wanted.encoding_format ?? 'float', tokens)
      return sendJson(response, 200, list)
    }
    default:
      return sendJson(response, 404, errorBody(`there is no ${request.method} ${path} here`, 'invalid_request_error'))
  }
}

async function chat(request: ChatRequest, response: ServerResponse, tokenDelayMs: number): Promise<void> {
  const toolNames = request.tool_choice === 'none' ? [] : (request.tools ?? []).map((tool) => tool.function?.name ?? '')
  const answer = answerTo(request.messages, toolNames)
  const shapes = answerShapes(demoModelName)
  const { countTokens } = await tokenizer()
  const promptTokens = request.messages.reduce((sum, message) => sum + countTokens(textOf(message.content)) + 4, 0)
  const { pieces, complete } = limited(
    piecesOf(answer),
    request.max_completion_tokens ?? request.max_tokens ?? Infinity,
    countTokens,
  )
  const usage = usageOf(
    promptTokens,
    pieces.reduce((sum, piece) => sum + countTokens(piece), 0),
  )
  const finishReason = !complete ? 'length' : 'toolCall' in answer ? 'tool_calls' : 'stop'
  const callId = `call_${randomUUID().slice(-12)}`

  if (request.stream !== true) {
    const whole = pieces.join('')
    const calls =
      'toolCall' in answer
        ? [{ id: callId, type: 'function' as const, function: { ...answer.toolCall, arguments: whole } }]
        : []
    return sendJson(response, 200, shapes.completion('toolCall' in answer ? null : whole, calls, finishReason, usage))
  }

  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  response.write(sseFrame(shapes.chunk({ role: 'assistant', content: '' })))
  if ('toolCall' in answer) {
    const start = {
      index: 0,
      id: callId,
      type: 'function' as const,
      function: { name: answer.toolCall.name, arguments: '' },
    }
    response.write(sseFrame(shapes.chunk({ tool_calls: [start] })))
  }
  for (const piece of pieces) {
    if (tokenDelayMs > 0) await pause(tokenDelayMs)
    if (response.destroyed) return
    const delta =
      'toolCall' in answer ? { tool_calls: [{ index: 0, function: { arguments: piece } }] } : { content: piece }
    response.write(sseFrame(shapes.chunk(delta)))
  }
  response.write(sseFrame(shapes.chunk({}, finishReason)))
  if (request.stream_options?.include_usage) response.write(sseFrame(shapes.usageChunk(usage)))
  response.end(sseDone)
}

/** Words with the space before them: about a token each. */
function piecesOf(answer: Answer): string[] {
  return ('toolCall' in answer ? answer.toolCall.arguments : answer.text).match(/\s*\S+/g) ?? []
}

function limited(
  pieces: string[],
  maxTokens: number,
  countTokens: (text: string) => number,
): { pieces: string[]; complete: boolean } {
  let left = maxTokens
  const fitting = pieces.filter((piece) => left >= 0 && (left -= countTokens(piece)) >= 0)
  return { pieces: fitting, complete: fitting.length === pieces.length }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    // Without an encoding the stream yields buffers, which its type does not tell.
    if (!Buffer.isBuffer(chunk)) continue
    bytes += chunk.length
    if (bytes > maxBodyBytes) throw new BadRequest('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
