import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { demoEmbeddings } from '../../local/demo-model-settings.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { plainEnv } from '../support/plain-env.ts'

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
      env: {
        ...plainEnv(),
        DATA_DIR: dataDir,
        PORT: '0',
        MODEL_DISCOVERY: 'off',
        EMBEDDING_MODEL: demoEmbeddings,
        CODE_INTERPRETER: 'off',
      },
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

  const mailsTo = async (email: string): Promise<any> =>
    (await fetch(`${(await addresses()).mailbox}/email?to.address=${encodeURIComponent(email)}`)).json()
  const signUp = async (email: string) => {
    const { api } = await addresses()
    const { status } = await apiClient(api).call('POST', '/auth/signup', { email, password: 'a good long password' })
    return status
  }

  describe('leads a new user', () => {
    /** What somebody types into a second terminal in the project's folder. */
    const type = async (commands: string) => {
      const env = { ...plainEnv(), DATA_DIR: dataDir }
      return (await promisify(execFile)('sh', ['-ec', commands], { cwd: root, env, timeout: 100_000 })).stdout
    }
    let nextCommands = ''

    it('from the banner to the console', async () => {
      const { api, mailbox } = await addresses()
      const said = await eventually(
        'the banner',
        async () => /The service is ready[^]*the data stays/.exec(output)?.[0],
      )
      for (const part of [`Open ${api} and create an account`, mailbox, 'npm run quickstart', 'demo model'])
        expect(said).toContain(part)
      const page = await fetch(api)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')])
      const parts = [...(await page.text()).matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css))"/g)].map(([, file]) => file)
      expect(parts.length).toBeGreaterThan(1)
      for (const file of parts) expect((await fetch(`${api}${file}`)).status, file).toBe(200)
    })

    it('through the quickstart, which prints a token and the next commands', async () => {
      const printed = await type('npm run --silent quickstart')
      expect(printed).toMatch(/5\. Stream a run\n\n.*demo model/)
      const commands = /^ +(export API_TOKEN=\S+)\n +(npm run \S+)$/m.exec(printed)
      nextCommands = `${commands?.[1]}; ${commands?.[2]}`
      expect(nextCommands).toMatch(/^export API_TOKEN=ey\S+; npm run example:knowledge$/)
    })

    it('to an answer from a document with its passages, by the command that the quickstart prints', async () => {
      const printed = await type(nextCommands)
      expect(printed).toMatch(/Ready: \d+ chunks/)
      expect(printed).toContain('A person who talks when you wish him to listen')
      expect(printed).toContain('devils-dictionary.pdf')
    })

    it('to a public assistant that remembers, by the commands of examples/public', async () => {
      const printed = await type(
        'eval "$(sh examples/public/open-assistant.sh)"; npm run --silent example:public; sh examples/public/curl.sh',
      )
      expect(printed).toMatch(/> What is my name\?\n.*Ada/)
    })
  })

  it('restarts every server and process with its data and address after kill -9', async () => {
    const { api } = await addresses()
    expect(await signUp('first@example.com')).toBe(200)
    await eventually('the first mail', async () => (await mailsTo('first@example.com')).length === 1)
    for (const name of ['redis', 'mongodb', 'temporal', 'mailbox', 'api', 'worker']) {
      const pid = (await addresses()).processes[name] ?? 0
      expect(pid, name).toBeGreaterThan(0)
      process.kill(pid, 'SIGKILL')
      await eventually(`another ${name}`, async () => (await addresses()).processes[name] !== pid, 60_000)
      await eventually(`readiness after ${name}`, async () => (await fetch(`${api}/ready`)).ok, 60_000)
      // What it prints comes through a pipe, later than the file is written.
      const said = new RegExp(`${name} ended \\(SIGKILL\\); started again as process \\d+`, 'i')
      await eventually(`the line about ${name}`, async () => said.test(output))
    }
    // The user is still there, and so is the first mail; the second one is written by a workflow.
    expect(await signUp('first@example.com')).toBe(400)
    await eventually('sign-up to work', async () => (await signUp('second@example.com')) !== 503)
    await eventually('the second mail', async () => (await mailsTo('second@example.com')).length === 1, 60_000)
    expect(await mailsTo('first@example.com')).toHaveLength(1)
  }, 300_000)

  it('stops everything on Ctrl-C, including restarted processes', async () => {
    const { processes } = await addresses()
    const exited = once(main, 'exit')
    main.kill('SIGINT')
    expect(await exited).toEqual([0, null])
    for (const [name, pid] of Object.entries(processes)) expect(() => process.kill(pid, 0), name).toThrow(/ESRCH/)
    await expect(addresses()).rejects.toThrow(/ENOENT/)
  })
})
