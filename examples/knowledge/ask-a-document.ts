/**
 * Asks a question about a document: uploads it to a new assistant, waits until it is ready, and shows
 * the answer together with the passages that the assistant was given.
 *
 *   npm start                                    (in another terminal)
 *   API_TOKEN=… npm run example:knowledge -- [file] [question]
 *
 * `API_TOKEN` is the `jwt_token` of `POST /auth/login` (the quickstart shows how to get one), `API_URL`
 * the address of the service (default: the one that `npm start` wrote to .data/addresses.json). Without arguments it asks about The Devil's Dictionary (Bierce, 1911).
 */
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

interface Message {
  type: 'HumanMessage' | 'AIMessage' | 'ToolMessage' | 'SystemMessage'
  data: { content: string; name?: string }
}

interface Passage {
  file_name: string
  page?: number
  last_page?: number
  heading?: string
  text: string
  score: number
}

const apiUrl = process.env['API_URL'] ?? startedHere() ?? 'http://127.0.0.1:8100'
const token = process.env['API_TOKEN']
if (token === undefined) {
  console.error('Set API_TOKEN to the jwt_token of a login. "npm run quickstart" prints one.')
  process.exit(1)
}
const file = process.argv[2] ?? path.join(import.meta.dirname, '..', '..', 'bench', 'corpus', 'devils-dictionary.pdf')
const question = process.argv[3] ?? 'How does Bierce define a bore?'

const { assistant_id: assistantId } = await call<{ assistant_id: string }>('POST', '/assistants/', {
  name: 'Librarian',
})

console.log(`Uploading ${path.basename(file)} …`)
const form = new FormData()
form.append('files', new Blob([await readFile(file)]), path.basename(file))
const uploaded = await send<{ files: { metadata: { status: string; chunks: number; error?: string } }[] }>(
  `/assistants/${assistantId}/files`,
  { method: 'POST', body: form },
)
const metadata = uploaded.files[0]?.metadata
if (metadata?.status !== 'ready') throw new Error(`the file cannot be used: ${metadata?.error}`)
console.log(`Ready: ${metadata.chunks} chunks.\n\n${question}\n`)

const { thread_id: threadId } = await call<{ thread_id: string }>('POST', '/threads/', { assistant_id: assistantId })
const run = await fetch(`${apiUrl}/runs/stream`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({
    thread_id: threadId,
    input: [{ type: 'human', content: question }],
    config: { configurable: { assistant_id: assistantId, thread_id: threadId } },
  }),
})
// Only the final answer is needed here; the quickstart shows how to follow a stream.
const events = await run.text()
if (!run.ok || events.includes('event: error')) throw new Error(`the run failed: ${events}`)

const state = await call<{ values: { messages: Message[] } }>('GET', `/threads/${threadId}/state`)
for (const { type, data } of state.values.messages) {
  if (type === 'ToolMessage' && data.name === 'retrieval') showPassages(data.content)
  if (type === 'AIMessage' && data.content !== '') console.log(`\n${data.content}`)
}

/** The address of the service that `npm start` runs. */
function startedHere(): string | undefined {
  const file = path.join(process.env['DATA_DIR'] ?? '.data', 'addresses.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { api?: string }).api : undefined
}

function showPassages(content: string): void {
  const { passages } = JSON.parse(content) as { passages: Passage[] }
  for (const { file_name: name, page, last_page: last = page, heading, text, score } of passages) {
    const place = page === undefined ? (heading ?? '') : page === last ? `page ${page}` : `pages ${page}–${last}`
    console.log(`  ${score.toFixed(2)}  ${name}, ${place}: ${text.replace(/\s+/g, ' ').slice(0, 100)}…`)
  }
}

function call<T>(method: string, route: string, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  return send<T>(route, { method, ...init })
}

/** One request. Throws the service's message if it refuses. */
async function send<T>(
  route: string,
  init: { method: string; headers?: Record<string, string>; body?: string | FormData },
): Promise<T> {
  const headers = { ...init.headers, authorization: `Bearer ${token}` }
  const response = await fetch(`${apiUrl}${route}`, { ...init, headers })
  if (!response.ok) throw new Error(`${init.method} ${route} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}
