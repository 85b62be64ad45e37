/**
 * From nothing to an answer, with `fetch` only: sign up, read the code from the mailbox, verify, log
 * in, create an assistant and a thread, stream a run, read the thread's state.
 *
 *   npm start            (in another terminal)
 *   npm run quickstart
 *
 * `API_URL` and `MAILBOX_URL` are read from .data/addresses.json, which `npm start` writes; set them
 * for any other service. `MAILBOX_URL` is the page of the local mail receiver (maildev).
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

interface Message {
  type: 'HumanMessage' | 'AIMessage' | 'ToolMessage' | 'SystemMessage'
  data: { id: string; content: string }
}

const { apiUrl, mailboxUrl } = addresses()
const email = `quickstart-${Date.now()}-${process.pid}@example.com`
const password = 'a good long password'

console.log(`1. Sign up as ${email}`)
await call('POST', '/auth/signup', { email, password, first_name: 'Ada' })

console.log(`2. Read the code from the mailbox at ${mailboxUrl}`)
const code = await codeFromMail()

console.log(`3. Verify with ${code}, and log in`)
await call('POST', '/auth/verify-email', { email, code })
const { jwt_token: token } = await call<{ jwt_token: string }>('POST', '/auth/login', { email, password })

console.log('4. Create an assistant and a thread')
const { assistant_id: assistantId } = await call<{ assistant_id: string }>(
  'POST',
  '/assistants/',
  { name: 'Quickstart', config: { 'type==agent/system_message': 'You are a friendly assistant. Be brief.' } },
  token,
)
const { thread_id: threadId } = await call<{ thread_id: string }>(
  'POST',
  '/threads/',
  { name: 'My first thread', assistant_id: assistantId },
  token,
)

console.log('5. Stream a run\n')
await streamRun('Hello! Who are you?')

console.log("\n\n6. Read the thread's state\n")
const state = await call<{ values: { messages: Message[] } }>('GET', `/threads/${threadId}/state`, undefined, token)
for (const { type, data } of state.values.messages) console.log(`   ${type}: ${data.content}`)

console.log(`
7. Go on as this user

   export API_TOKEN=${token}
   npm run example:knowledge

   or open ${apiUrl} and log in as ${email} with the password "${password}".`)

/** One JSON request. Throws the service's message if it refuses. */
async function call<T>(method: string, route: string, body?: unknown, bearer?: string): Promise<T> {
  const response = await fetch(`${apiUrl}${route}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${route} answered ${response.status}: ${await response.text()}`)
  return (await response.json()) as T
}

/** Polls the mailbox until the mail has arrived. The code is on a line of its own. */
async function codeFromMail(): Promise<string> {
  for (let tries = 0; tries < 60; tries++) {
    const response = await fetch(`${mailboxUrl}/email?to.address=${encodeURIComponent(email)}`)
    const mails = (await response.json()) as { text: string }[]
    const found = /^(\d{6})$/m.exec(mails[0]?.text ?? '')?.[1]
    if (found !== undefined) return found
    await pause(500)
  }
  throw new Error('no mail came')
}

/**
 * Runs the assistant and shows its answer as it arrives. Every `data` event is a list of whole messages; a later
 * message with the same id replaces the earlier one.
 */
async function streamRun(content: string): Promise<void> {
  const response = await fetch(`${apiUrl}/runs/stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      thread_id: threadId,
      input: [{ type: 'human', content }],
      config: { configurable: { assistant_id: assistantId, thread_id: threadId } },
    }),
  })
  if (!response.ok) throw new Error(`the run was refused: ${await response.text()}`)
  const shown = new Map<string, string>()
  for await (const { event, data } of serverSentEvents(response)) {
    if (event === 'error') throw new Error(`the run failed: ${data}`)
    if (event === 'end') return
    if (event !== 'data') continue
    for (const message of JSON.parse(data) as Message[]) {
      const before = shown.get(message.data.id) ?? ''
      process.stdout.write(message.data.content.slice(before.length))
      shown.set(message.data.id, message.data.content)
    }
  }
  throw new Error('the stream broke off; it can be continued with GET /runs/{run_id}/stream and Last-Event-ID')
}

/** Parses the events of a stream (WHATWG HTML, server-sent events), as far as this service uses them. */
async function* serverSentEvents(response: Response): AsyncGenerator<{ event: string; data: string }> {
  let rest = ''
  const text = response.body?.pipeThrough(new TextDecoderStream())
  if (text === undefined) return
  for await (const chunk of text) {
    rest += chunk
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map(fieldOf))
      const event = fields.get('event')
      if (event !== undefined) yield { event, data: fields.get('data') ?? '' }
    }
  }
}

function fieldOf(line: string): [name: string, value: string] {
  const [name = ''] = line.split(':', 1)
  return [name, line.slice(name.length + 1).replace(/^ /, '')]
}

function addresses(): { apiUrl: string; mailboxUrl: string } {
  const file = path.join(process.env['DATA_DIR'] ?? '.data', 'addresses.json')
  const known = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as { api?: string; mailbox?: string })
    : undefined
  const apiUrl = process.env['API_URL'] ?? known?.api
  const mailboxUrl = process.env['MAILBOX_URL'] ?? known?.mailbox
  if (apiUrl !== undefined && mailboxUrl !== undefined) return { apiUrl, mailboxUrl }
  console.error('Is the service running? Start it with npm start, or set API_URL and MAILBOX_URL.')
  process.exit(1)
}
