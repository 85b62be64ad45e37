import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'

/** A model that says twenty words at once, as fast as a process can: what is measured is everything around it. */
const words = Array.from({ length: 20 }, (_, index) => `word${index} `)
const chunk = (delta: object, finish: string | null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'bare', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
const usage = `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 0, model: 'bare', choices: [], usage: { prompt_tokens: 5, completion_tokens: 20, total_tokens: 25 } })}\n\n`
const answer = `${words.map((content) => chunk({ content }, null)).join('')}${chunk({}, 'stop')}${usage}data: [DONE]\n\n`

/** Vectors made beforehand, given out in turn: what is measured is everything around them. */
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

const server = createServer((request, response) => {
  if (request.url?.endsWith('/embeddings')) return void embed(request, response)
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/v1` }))
})
process.once('SIGTERM', () => process.exit(0))
