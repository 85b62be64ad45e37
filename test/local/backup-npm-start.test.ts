import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { statesOf } from '../../local/data-backup/process-groups.ts'
import { demoEmbeddings } from '../../local/demo-model-settings.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { plainEnv } from '../support/plain-env.ts'

const root = path.join(import.meta.dirname, '../..')
const account = { email: 'ada@example.com', password: 'a good long password' }

let home = ''
let dataDir = ''
let main: ChildProcess | undefined
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'assistant-backup-'))
  dataDir = path.join(home, 'data')
})
afterAll(async () => {
  if (main?.exitCode === null && main.signalCode === null) main.kill('SIGKILL')
  await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 500 })
})

type Addresses = { api: string; mailbox: string; processes: Record<string, number> }
const addresses = async (): Promise<Addresses> =>
  JSON.parse(await readFile(path.join(dataDir, 'addresses.json'), 'utf8'))

const begin = (script: string, ...args: string[]) => {
  const env = {
    ...plainEnv(),
    DATA_DIR: dataDir,
    PORT: '0',
    MODEL_DISCOVERY: 'off',
    EMBEDDING_MODEL: demoEmbeddings,
    CODE_INTERPRETER: 'off',
  }
  const child = spawn(process.execPath, [script, ...args], { cwd: root, env })
  const said = { child, output: '' }
  child.stdout?.on('data', (chunk: Buffer) => (said.output += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (said.output += chunk.toString()))
  return said
}

async function run(command: 'backup' | 'restore', folder: string): Promise<{ code: number | null; output: string }> {
  const said = begin(`local/${command}.ts`, path.join(home, folder))
  const [code] = (await once(said.child, 'close')) as [number | null]
  return { code, output: said.output }
}

/** The process itself, without the bootstrap, so that a kill hits it. */
async function start(): Promise<void> {
  const said = begin('local/start.ts')
  main = said.child
  await eventually(
    'npm start to be ready or to end',
    async () => {
      if (main?.exitCode !== null) throw new Error(`npm start ended: ${said.output}`)
      return (await addresses().catch(() => undefined)) !== undefined && said.output.includes('The service is ready')
    },
    180_000,
  )
}

async function stop(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const exited = once(main as ChildProcess, 'exit')
  main?.kill(signal)
  await exited
}

async function logIn(): Promise<ApiClient> {
  const { jwt_token: token } = await apiClient((await addresses()).api).post('/auth/login', account)
  return apiClient((await addresses()).api, token)
}

async function signUp(): Promise<ApiClient> {
  const { api, mailbox } = await addresses()
  await apiClient(api).post('/auth/signup', account)
  const code = await eventually('the code', async () => {
    const mails = await fetch(`${mailbox}/email?to.address=${encodeURIComponent(account.email)}`)
    return /^(\d{6})$/m.exec(JSON.parse(await mails.text())[0]?.text ?? '')?.[1]
  })
  await apiClient(api).post('/auth/verify-email', { email: account.email, code })
  return logIn()
}

/** Runs the assistant to its end and returns its stream. */
async function ask(api: ApiClient, threadId: string, assistantId: string, content: string): Promise<string> {
  const input = [{ type: 'human', content }]
  const config = { configurable: { assistant_id: assistantId, thread_id: threadId } }
  const answer = await api.call('POST', '/runs/stream', { thread_id: threadId, input, config })
  expect(answer.status, answer.text).toBe(200)
  expect(answer.text).toContain('event: end')
  expect(answer.text).not.toContain('event: error')
  return answer.text
}

type Message = { type: string; data: { id: string; content: string } }
const messagesOf = async (api: ApiClient, threadId: string): Promise<Message[]> =>
  (await api.get(`/threads/${threadId}/state`)).values.messages

const newThread = async (api: ApiClient, assistantId: string): Promise<string> =>
  (await api.post('/threads/', { name: 'Chat', assistant_id: assistantId })).thread_id

const runs = async (): Promise<boolean> => {
  const states = await Promise.all(Object.values((await addresses()).processes).map((pid) => statesOf(pid)))
  return states.every((group) => group.length > 0 && !group.includes('T'))
}

let assistantId = ''
/** Without files: the demo model then answers from the conversation. */
let friendId = ''
let threadId = ''
let saved: Message[] = []

it('a backup of the running service, killed in the middle, lets it go on and leaves nothing that looks whole', async () => {
  await start()
  const api = await signUp()
  assistantId = (await api.post('/assistants/', { name: 'Librarian' })).assistant_id
  friendId = (await api.post('/assistants/', { name: 'Friend' })).assistant_id
  const form = new FormData()
  form.append('files', new Blob(['The lighthouse of Skagen is 46 metres high.\n'.repeat(5)]), 'lighthouse.txt')
  const { files } = await api.post(`/assistants/${assistantId}/files`, form)
  expect(files[0].metadata.status).toBe('ready')
  threadId = await newThread(api, friendId)
  await ask(api, threadId, friendId, 'My name is Ada.')
  saved = await messagesOf(api, threadId)

  const killed = begin('local/backup.ts', path.join(home, 'killed'))
  await eventually('the pause', () => killed.output.includes('The service is paused'))
  killed.child.kill('SIGKILL')
  await once(killed.child, 'close')
  await eventually('the service to go on', runs)
  await ask(api, await newThread(api, assistantId), assistantId, 'Hello')
  // On a fast machine the backup may have been complete.
  if (existsSync(path.join(home, 'killed'))) return
  expect((await run('restore', 'killed')).output).toContain('is not a backup, or not a complete one')
}, 300_000)

it('is backed up while it runs, with no run lost, and refuses a restore meanwhile', async () => {
  const api = await logIn()
  const other = await newThread(api, assistantId)
  let isOver = false
  const asked = (async () => {
    for (let number = 0; !isOver; number++) await ask(api, other, assistantId, `Question ${number}`)
  })()
  const { code, output } = await run('backup', 'running')
  isOver = true
  expect(code, output).toBe(0)
  expect(output).toMatch(/The service is paused\n> The service goes on after \d+\.\d s\nSaved/)
  expect(output).not.toMatch(/begins again/)
  await asked
  expect(await runs()).toBe(true)
  expect(await run('restore', 'running')).toEqual({ code: 1, output: expect.stringContaining('is in use by process') })
  await ask(api, threadId, friendId, 'This came after the backup.')
}, 300_000)

it('after its data is gone, a restore brings account, thread and file back, and the thread goes on', async () => {
  await stop('SIGINT')
  await rm(dataDir, { recursive: true })
  expect(await run('restore', 'running')).toMatchObject({ code: 0 })
  await start()
  await resumes()
}, 300_000)

it('is backed up right after a kill -9 of everything, and restored beside what was there', async () => {
  await stop('SIGKILL')
  const { code, output } = await run('backup', 'killed-service')
  expect(code, output).toBe(0)
  expect(output).not.toContain('paused')
  await rename(dataDir, path.join(home, 'moved'))
  expect(await run('restore', 'killed-service')).toMatchObject({ code: 0 })
  await start()
  const messages = await messagesOf(await logIn(), threadId)
  expect(messages.slice(0, saved.length)).toEqual(saved)
  expect(messages.at(-1)?.data.content).toContain('Ada')
  await stop('SIGINT')
}, 300_000)

/** What was saved is there, nothing that came later is, and all of it works. */
async function resumes(): Promise<void> {
  const api = await logIn()
  expect(await messagesOf(api, threadId)).toEqual(saved)
  const found = await ask(api, await newThread(api, assistantId), assistantId, 'How high is the lighthouse of Skagen?')
  expect(found).toContain('46 metres high')
  expect(await ask(api, threadId, friendId, 'What is my name?')).toContain('Ada')
}
