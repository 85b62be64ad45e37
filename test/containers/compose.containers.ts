import { mkdir, open, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { Agent, fetch as fetchWith } from 'undici'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDemoModel } from '../../local/demo-model/server.ts'
import { run } from '../../local/services/command.ts'
import { startLocalServices } from '../../local/services/index.ts'
import { listenOnLoopback } from '../support/http-server.ts'
import { type Engine, startEngine } from './engine.ts'
import { createAsker } from './ask.ts'
import { faultsOf } from './faults.ts'
import { makeBaseImages } from './images.ts'
import { type Installation, install, openToContainers } from './installation.ts'

const root = path.join(import.meta.dirname, '../..')
const url = 'https://localhost:8100'
/** `CONTAINERS_FOLDER` keeps images for the next run; without it everything is removed. */
const kept = process.env['CONTAINERS_FOLDER']

describe('docker-compose.yml in containers', () => {
  const folder = kept ?? path.join(os.tmpdir(), `containers-${process.pid}`)
  const report: string[] = []
  const say = (line: string) => console.log(`> ${line}`)
  const ends: (() => unknown)[] = []
  let engine: Engine
  let installed: Installation
  let mailboxUrl: string
  let authority: string
  let token: string

  beforeAll(async () => {
    await mkdir(folder, { recursive: true })
    engine = await startEngine(folder, say)
    report.push(...(await makeBaseImages(engine, say)))
    say('building the image')
    const build = ['build', '--layers=false', '--isolation', 'chroot', '--network', 'host', '--format', 'docker']
    if (kept === undefined || process.env['CONTAINERS_BUILT'] === undefined)
      await engine.podman([...build, '--tag', 'localhost/assistant-platform:1.0.0', root], { timeoutMs: 1_200_000 })

    const model = createDemoModel({ tokenDelayMs: 60 })
    ends.push(() => model.close())
    const modelDoor = await openToContainers(await listenOnLoopback(model))
    const mail = await startLocalServices({ dataDir: path.join(folder, 'mail'), env: {}, log: say, need: ['mailbox'] })
    ends.push(mail.stop)
    mailboxUrl = mail.env['MAILBOX_URL'] ?? ''
    const mailDoor = await openToContainers(Number(new URL(mail.env['SMTP_URL'] ?? '').port))
    ends.push(modelDoor.close, mailDoor.close)

    installed = await install(engine, {
      folder: path.join(folder, 'project'),
      project: 'platform',
      say,
      env: {
        SITE_ADDRESS: url,
        BASE_URL: url,
        OPENAI_BASE_URL: `http://host.containers.internal:${modelDoor.port}/v1`,
        OPENAI_API_KEY: 'demo',
        DEFAULT_MODEL: 'demo-model',
        EMBEDDING_MODEL: 'demo-embedding',
        EMBEDDING_DIMENSIONS: '512',
        SMTP_URL: `smtp://host.containers.internal:${mailDoor.port}`,
        // The database that stands in has no users.
        MONGODB_URI: 'mongodb://mongo:27017/assistants?directConnection=true&retryWrites=false',
      },
    })
    authority = path.join(folder, 'authority.pem')
    const certificate = '/data/caddy/pki/authorities/local/root.crt'
    await writeFile(authority, await engine.podman(['exec', installed.container('proxy'), 'cat', certificate]))
  }, 3_000_000)

  afterAll(async () => {
    console.log(['Programs that stood in for others:', ...report].join('\n  '))
    for (const end of ends.toReversed()) await end()
    if (kept === undefined) await engine.remove()
    else {
      await engine.podman(['rm', '--all', '--force', '--time', '0'])
      await engine.podman(['volume', 'prune', '--force'])
      await engine.podman(['network', 'prune', '--force'])
      await rm(path.join(folder, 'project'), { recursive: true, force: true })
    }
  }, 300_000)

  const env = () => ({ ...process.env, NODE_EXTRA_CA_CERTS: authority, API_URL: url, MAILBOX_URL: mailboxUrl })
  const script = (name: string, more: Record<string, string> = {}) =>
    run(process.execPath, [path.join(root, name)], { env: { ...env(), ...more }, timeoutMs: 240_000 })
  const inContainer = (service: string, ...command: string[]) =>
    engine.podman(['exec', installed.container(service), ...command])

  /** Trusts the proxy's own authority, beside those of the system. */
  async function trustingFetch() {
    const dispatcher = new Agent({ connect: { ca: await readFile(authority, 'utf8') } })
    ends.push(() => dispatcher.close())
    return (input: string | URL | Request, init?: RequestInit) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- undici's own fetch is the one of Node.
      fetchWith(input as never, { ...(init as object), dispatcher }) as unknown as Promise<Response>
  }

  it('runs the quickstart through the proxy with TLS', async () => {
    const said = await script('examples/quickstart/quickstart.ts')
    token = /export API_TOKEN=(\S+)/.exec(said)?.[1] ?? ''
    expect(token).not.toBe('')
  })

  it('answers from a document and cites it', async () => {
    const said = await script('examples/knowledge/ask-a-document.ts', { API_TOKEN: token })
    expect(said).toContain('devils-dictionary.pdf')
    expect(said.toLowerCase()).toContain('bore')
  })

  it('serves an official client', async () => {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, fetch: await trustingFetch(), maxRetries: 0 })
    const stream = await client.chat.completions.create({
      model: 'demo-model',
      messages: [{ role: 'user', content: 'Say hello.' }],
      stream: true,
    })
    let said = ''
    for await (const chunk of stream) said += chunk.choices[0]?.delta.content ?? ''
    expect(said.length).toBeGreaterThan(10)
  })

  it('runs without rights, on read-only roots', async () => {
    const seen: Record<string, unknown> = {}
    for (const service of ['api', 'worker', 'redis', 'temporal']) {
      const status = await inContainer(service, 'cat', '/proc/1/status')
      const field = (name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1]
      const written = await inContainer(service, 'sh', '-c', 'touch /written 2>&1 || true')
      seen[service] = [field('Uid') === '0', field('CapEff'), field('NoNewPrivs'), /Read-only/.test(written)]
    }
    const confined = [false, '0000000000000000', '1', true]
    expect(seen).toEqual({ api: confined, worker: confined, redis: confined, temporal: confined })
  })

  it('keeps its limits of memory under an upload of 1 GiB', async () => {
    const large = path.join(folder, 'large.txt')
    const handle = await open(large, 'w')
    await handle.truncate(2 ** 30)
    await handle.close()
    const assistant = (more: string[]) =>
      run(
        'curl',
        ['--silent', '--show-error', '--cacert', authority, '-H', `Authorization: Bearer ${token}`, ...more],
        {
          timeoutMs: 300_000,
        },
      )
    const made = await assistant(['--json', '{"name": "Large"}', `${url}/assistants/`])
    const id = /"assistant_id":"([^"]+)"/.exec(made)?.[1]
    expect(id, made).toBeDefined()
    const upload = ['--output', '-', '--write-out', '\n%{http_code}', '--form', `files=@${large}`]
    const answer = await assistant([...upload, `${url}/assistants/${id}/files`]).catch(String)
    await rm(large)
    say(`an upload of 1 GiB: ${answer.slice(-400)}`)
    for (const service of ['api', 'worker', 'proxy', 'mongo']) {
      const name = installed.container(service)
      const [restarts, killed, limit] = (
        await engine.podman([
          'inspect',
          '--format',
          '{{.RestartCount}} {{.State.OOMKilled}} {{.HostConfig.Memory}}',
          name,
        ])
      )
        .trim()
        .split(' ')
      const peak = Number(await inContainer(service, 'cat', '/sys/fs/cgroup/memory/memory.max_usage_in_bytes'))
      const failed = (await inContainer(service, 'cat', '/sys/fs/cgroup/memory/memory.failcnt')).trim()
      say(`${service}: ${Math.round(peak / 2 ** 20)} MiB of ${Number(limit) / 2 ** 20} at most; ${failed} times full`)
      expect({ service, restarts, killed }).toEqual({ service, restarts: '0', killed: 'false' })
      expect(Number(limit)).toBeGreaterThan(0)
    }
    expect(answer).toMatch(/\n(200|413)$/)
    await installed.untilHealthy(installed.container('api'))
  })

  it('loses and doubles no answer when a container is killed, stopped, paused, cut off or slowed', async () => {
    const asker = await createAsker(await trustingFetch(), url, token)
    const seen: string[] = []
    for (const service of ['api', 'worker', 'redis', 'mongo', 'temporal', 'postgresql', 'proxy'])
      for (const [fault, act] of Object.entries(faultsOf(engine, installed, installed.container(service), service))) {
        const seconds = await asker.askDuring(act).catch((error: unknown) => String(error))
        const line = `${fault} ${service}: ${typeof seconds === 'string' ? seconds : `whole, once, ${seconds.toFixed(1)} s after its end`}`
        say(line)
        seen.push(line)
        if (typeof seconds === 'string') say(await installed.logs(installed.container(service)))
        for (const name of installed.staying) await installed.untilHealthy(installed.container(name))
      }
    expect(seen.filter((line) => !line.includes('whole, once'))).toEqual([])
  }, 3_000_000)
})
