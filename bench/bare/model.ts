import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { sendPaced } from './paced.ts'

/**
 * A model server that answers twenty words at once, as fast as possible, so that a measurement shows the cost of
 * everything else.
 */
const words = Array.from({ length: 20 }, (_, index) => `word${index} `)
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'bare', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'bare', choices: [], usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 } })}\n\n`
const answer = `${words.map((content) => chunk({ content }, null)).join('')}${chunk({}, 'stop')}${usage}data: [DONE]\n\n`

/** Vectors are created beforehand and returned in turn, so that a measurement shows the cost of everything else. */
const vectors = Array.from({ length: 2048 }, () => {
  const values = Float32Array.from({ length: 256 }, () => Math.random() - 0.5)
  return Buffer.from(values.buffer).toString('base64')
})
let given = 0

async function embed(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += String(piece)
  const { input } = JSON.parse(body) as { input: string | string[] }
  const data = [input]
    .flat()
    .map((_, index) => ({ object: 'embedding', index, embedding: vectors[given++ % vectors.length] }))
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ object: 'list', model: 'bare', data, usage: { prompt_tokens: 0, total_tokens: 0 } }))
}

const whole = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  created: 0,
  model: 'bare',
  choices: [{ index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 },
})

/** A question `tools: N` is answered with a call of `http_request` until N results are there. */
function callOrAnswer(body: string): string {
  const wanted = Number(/tools: (\d+)/.exec(body)?.[1] ?? 0)
  if (wanted === 0) return answer
  const given = body.split('"role":"tool"').length - 1
  if (given >= wanted) return answer
  const call = {
    index: 0,
    id: `call_${given}`,
    type: 'function',
    function: { name: 'http_request', arguments: JSON.stringify({ method: 'GET', url: `${own.url}/tool` }) },
  }
  return `${chunk({ tool_calls: [call] }, null)}${chunk({}, 'tool_calls')}${usage}data: [DONE]\n\n`
}

/**
 * A question `paced: N MS` is answered with N words, one every MS milliseconds. Each word is the time at which it is
 * sent.
 */
function answerPaced(body: string, response: ServerResponse): boolean {
  const [, count, ms] = /paced: (\d+) (\d+)/.exec(body) ?? []
  if (count === undefined) return false
  const wordAt = (sentAt: number) => chunk({ content: `${sentAt} ` }, null)
  const pace = { words: Number(count), everyMs: Number(ms) }
  sendPaced(response, pace, wordAt, `${chunk({}, 'stop')}${usage}data: [DONE]\n\n`)
  return true
}

const own = { url: '' }

async function chat(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = ''
  for await (const piece of request.setEncoding('utf8')) body += String(piece)
  const isStreamed = /"stream":\s*true/.test(body)
  response.writeHead(200, { 'content-type': isStreamed ? 'text/event-stream' : 'application/json' })
  if (isStreamed && answerPaced(body, response)) return
  response.end(isStreamed ? callOrAnswer(body) : whole)
}

const server = createServer((request, response) => {
  if (request.url?.endsWith('/embeddings')) return void embed(request, response)
  if (request.url === '/tool') return void response.writeHead(200, { 'content-type': 'text/plain' }).end('done')
  void chat(request, response)
})
// If the server closed idle connections, the measurement would include new ones.
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  own.url = `http://127.0.0.1:${port}`
  console.log(JSON.stringify({ url: `${own.url}/v1` }))
})
process.once('SIGTERM', () => process.exit(0))
