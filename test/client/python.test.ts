import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { linesOf } from '../../infra/lines.ts'
import { run } from '../../local/services/command.ts'
import { conversation } from '../runs/support.ts'
import { apiGenerators } from '../support/api-generators.ts'
import { installTimeoutMs, pythonPrograms } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const source = path.join(import.meta.dirname, '../../client/python/assistant_platform_client')
const packages = ['httpx==0.28.1', 'attrs==26.1.0', 'python-dateutil==2.9.0.post0']

describe('the Python client', () => {
  const service = useSharedService()
  let proxy: Awaited<ReturnType<typeof startTcpProxy>>
  let folder: string
  let python: string
  const children = new Set<ChildProcess>()

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'assistant-python-'))
    const [programs, generators] = await Promise.all([pythonPrograms('client-python', packages), apiGenerators()])
    python = path.join(programs, 'python')
    proxy = await startTcpProxy(new URL(service.url).host)
    const document = path.join(folder, 'openapi.json')
    await writeFile(document, await (await fetch(`${service.url}/openapi.json`)).text())
    await cp(source, path.join(folder, 'assistant_platform_client'), {
      recursive: true,
      filter: (file) => !/[/\\](?:rest|__pycache__)$/.test(file),
    })
    await generators.pythonModules(document, path.join(folder, 'assistant_platform_client', 'rest'))
    // `npm run client:python` keeps what was generated.
    if (process.env['UPDATE_PYTHON_CLIENT'])
      await cp(path.join(folder, 'assistant_platform_client/rest'), path.join(source, 'rest'), { recursive: true })
  }, installTimeoutMs)
  afterEach(() => {
    for (const child of children) child.kill('SIGKILL')
    children.clear()
  })
  afterAll(async () => {
    await proxy?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const env = () => ({ PATH: process.env['PATH'], HOME: folder, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1' })

  /** Runs `talk.py`; gives what it prints, value by value. */
  function talk(mode: string, variables: { TOKEN: string; BODY?: string; SILENCE?: string }) {
    const child = spawn(python, [path.join(import.meta.dirname, 'python/talk.py'), mode], {
      env: { ...env(), BASE_URL: `http://${proxy.address}`, ...variables },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    children.add(child)
    const exited = once(child, 'close')
    return {
      stdin: child.stdin,
      async *said() {
        for await (const line of linesOf(child.stdout)) yield JSON.parse(line)
        expect((await exited)[0]).toBe(0)
      },
    }
  }

  const textOf = (snapshot: any): string => snapshot.messages.map((message: any) => message.data.content).join('|')

  it('parses events split at any byte, and folds messages', async () => {
    await run(python, [path.join(import.meta.dirname, 'python/test_parsing.py')], { env: env(), timeoutMs: 60_000 })
  })

  it('calls operations by generated functions with typed bodies and answers', async () => {
    const { client } = await conversation(service)
    const said = await Array.fromAsync(talk('operations', { TOKEN: String(client.token) }).said())
    expect(said).toEqual([{ assistant: 'From Python', threads: ['Snakes', 'Talk'] }])
  })

  it.each(['stream', 'async'])('follows a run over a connection that is cut (%s)', async (mode) => {
    const goOn = Promise.withResolvers<void>()
    service.model.reply({ text: ['The harbour ', goOn.promise, 'opens ', 'at six.'] })
    const { client, payload } = await conversation(service)
    const texts: string[] = []
    const connections: string[] = []
    const ids: string[] = []
    let last: any
    for await (const snapshot of talk(mode, {
      TOKEN: String(client.token),
      BODY: JSON.stringify(payload('When?')),
    }).said()) {
      last = snapshot
      if (connections.at(-1) !== snapshot.connection) connections.push(snapshot.connection)
      if (snapshot.last_event_id !== ids.at(-1)) ids.push(snapshot.last_event_id)
      if (texts.at(-1) !== textOf(snapshot)) texts.push(textOf(snapshot))
      if (textOf(snapshot) === 'The harbour ' && connections.length === 1) proxy.refuse()
      if (snapshot.connection === 'reconnecting') {
        proxy.restore()
        goOn.resolve()
      }
    }
    expect(connections).toEqual(['open', 'reconnecting', 'open'])
    expect(last).toMatchObject({ status: 'ended', error: null })
    expect(texts.at(-1)).toBe('The harbour opens at six.')
    expect(texts.every((text) => 'The harbour opens at six.'.startsWith(text))).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('closes a silent connection and opens a new one', async () => {
    const goOn = Promise.withResolvers<void>()
    service.model.reply({ text: ['One', goOn.promise, ' two'] })
    const { client, payload } = await conversation(service)
    const variables = { TOKEN: String(client.token), BODY: JSON.stringify(payload('Count')), SILENCE: '1' }
    let isStopped = false
    let last: any
    for await (const snapshot of talk('stream', variables).said()) {
      last = snapshot
      if (textOf(snapshot) === 'One' && !isStopped) {
        isStopped = true
        proxy.swallow()
      }
      if (snapshot.connection === 'reconnecting') {
        proxy.restore()
        goOn.resolve()
      }
    }
    expect([isStopped, last.status, textOf(last)]).toEqual([true, 'ended', 'One two'])
  })

  it('stops at once from another thread, without effect on the run', async () => {
    const goOn = Promise.withResolvers<void>()
    service.model.reply({ text: ['Begun', goOn.promise, ' and done'] })
    const { client, payload, join } = await conversation(service)
    const talking = talk('abort', { TOKEN: String(client.token), BODY: JSON.stringify(payload('Go')) })
    const said: any[] = []
    for await (const value of talking.said()) {
      said.push(value)
      if ('messages' in value && textOf(value) === 'Begun') talking.stdin.write('stop\n')
    }
    expect(said.at(-1)).toEqual({ aborted: true })
    expect(said.at(-2).status).toBe('running')
    goOn.resolve()
    expect((await join(said.at(-2).run_id)).messages.at(-1).data.content).toBe('Begun and done')
  })

  it("raises a refusal with the service's message", async () => {
    const { client } = await conversation(service)
    const said = await Array.fromAsync(talk('refused', { TOKEN: String(client.token) }).said())
    expect(said).toEqual([{ status: 404, detail: expect.stringMatching(/run/i) }])
  })
})
