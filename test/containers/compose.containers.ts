import { open, rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { createDemoModel } from '../../local/demo-model/server.ts'
import { run } from '../../local/services/command.ts'
import { startLocalServices } from '../../local/services/index.ts'
import { listenOnLoopback } from '../support/http-server.ts'
import { openToContainers } from './installation.ts'
import { say, url, useContainers } from './setup.ts'

const root = path.join(import.meta.dirname, '../..')

/** The model and the mailbox of `npm start`. */
async function startModelAndMailbox(folder: string) {
  const model = createDemoModel({ tokenDelayMs: 60 })
  const modelDoor = await openToContainers(await listenOnLoopback(model))
  const mail = await startLocalServices({ dataDir: path.join(folder, 'mail'), env: {}, log: say, need: ['mailbox'] })
  const mailDoor = await openToContainers(Number(new URL(mail.env['SMTP_URL'] ?? '').port))
  return {
    mailboxUrl: mail.env['MAILBOX_URL'] ?? '',
    env: {
      OPENAI_BASE_URL: `http://host.containers.internal:${modelDoor.port}/v1`,
      OPENAI_API_KEY: 'demo',
      DEFAULT_MODEL: 'demo-model',
      EMBEDDING_MODEL: 'demo-embedding',
      EMBEDDING_DIMENSIONS: '512',
      SMTP_URL: `smtp://host.containers.internal:${mailDoor.port}`,
    },
    async close() {
      for (const door of [mailDoor, modelDoor]) door.close()
      await mail.stop()
      model.close()
    },
  }
}

describe('docker-compose.yml in containers', () => {
  const containers = useContainers({ project: 'platform', standIns: startModelAndMailbox })
  let token: string

  const script = (name: string, more: Record<string, string> = {}) => {
    const { authority, standIns } = containers()
    const env = { NODE_EXTRA_CA_CERTS: authority, API_URL: url, MAILBOX_URL: standIns.mailboxUrl }
    return run(process.execPath, [path.join(root, name)], {
      env: { ...process.env, ...env, ...more },
      timeoutMs: 240_000,
    })
  }
  const inContainer = (service: string, ...command: string[]) =>
    containers().engine.podman(['exec', containers().installed.container(service), ...command])

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
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 })
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
    const { engine, installed, authority } = containers()
    const large = path.join(engine.folder, 'large.txt')
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
    const answer = await assistant([...upload, `${url}/assistants/${id}/files?wait=false`]).catch(String)
    await rm(large)
    say(`an upload of 1 GiB: ${answer.slice(-400)}`)
    // The worker reads it meanwhile.
    await pause(60_000)
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
})
