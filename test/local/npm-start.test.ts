import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'

const root = path.join(import.meta.dirname, '../..')

type Addresses = { api: string; mailbox: string; processes: Record<string, number> }

describe('npm start', () => {
  let dataDir: string
  let main: ChildProcess
  let output = ''
  const addresses = async (): Promise<Addresses> =>
    JSON.parse(await readFile(path.join(dataDir, 'addresses.json'), 'utf8'))

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-npm-start-'))
    main = spawn(process.execPath, ['local/bootstrap.mjs', 'local/start.ts'], {
      cwd: root,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir, PORT: '0' },
    })
    const listen = (chunk: Buffer) => (output += chunk.toString())
    main.stdout?.on('data', listen)
    main.stderr?.on('data', listen)
    await eventually(
      'npm start to be ready or to end',
      async () => {
        if (main.exitCode !== null) throw new Error(`npm start ended: ${output}`)
        return (await addresses().catch(() => undefined)) !== undefined
      },
      180_000,
    )
  }, 200_000)
  afterAll(async () => {
    if (main.exitCode === null && main.signalCode === null) main.kill('SIGKILL')
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 })
  })

  const mails = async (): Promise<any> => (await fetch(`${(await addresses()).mailbox}/email`)).json()
  const signUp = async (email: string) => {
    const { api } = await addresses()
    const { status } = await apiClient(api).call('POST', '/auth/signup', { email, password: 'a good long password' })
    return status
  }

  it('has every server and process back on its data and address after kill -9', async () => {
    const { api } = await addresses()
    expect(await signUp('first@example.com')).toBe(200)
    await eventually('the first mail', async () => (await mails()).length === 1)
    for (const name of ['redis', 'mongodb', 'temporal', 'mailbox', 'api', 'worker']) {
      const pid = (await addresses()).processes[name] ?? 0
      expect(pid, name).toBeGreaterThan(0)
      process.kill(pid, 'SIGKILL')
      await eventually(`another ${name}`, async () => (await addresses()).processes[name] !== pid, 60_000)
      await eventually(`readiness after ${name}`, async () => (await fetch(`${api}/ready`)).ok, 60_000)
      expect(output).toMatch(new RegExp(`${name} ended \\(SIGKILL\\); started again as process \\d+`, 'i'))
    }
    // The user is still there, and so is the first mail; the second one is written by a workflow.
    expect(await signUp('first@example.com')).toBe(400)
    await eventually('sign-up to work', async () => (await signUp('second@example.com')) !== 503)
    await eventually('the second mail', async () => (await mails()).length === 2, 60_000)
  }, 300_000)

  it('stops everything on Ctrl-C, also what was started again', async () => {
    const { processes } = await addresses()
    const exited = once(main, 'exit')
    main.kill('SIGINT')
    expect(await exited).toEqual([0, null])
    for (const [name, pid] of Object.entries(processes)) expect(() => process.kill(pid, 0), name).toThrow(/ESRCH/)
    await expect(addresses()).rejects.toThrow(/ENOENT/)
  }, 60_000)
})
