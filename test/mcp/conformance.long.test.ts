import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, request as ask } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../local/services/command.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { useModelService } from '../support/model-service.ts'
import { npmPackages } from '../support/npm-packages.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { oblige } from '../v1/frameworks/obliging-model.ts'
import { v1Client } from '../v1/v1-client.ts'

const packages = () => npmPackages('mcp-conformance', ['@modelcontextprotocol/conformance@0.1.16'])
const program = 'node_modules/@modelcontextprotocol/conformance/dist/index.js'
const timeoutMs = installTimeoutMs + 200_000

/**
 * The tests of the Model Context Protocol's own project. Those of servers that are left out want the tools, resources
 * and prompts of a server that is made for them; those of clients, authorization servers and questions to a person.
 */
describe('the conformance tests of the Model Context Protocol', () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '64', OUTBOUND_ALLOW: '127.0.0.1' }, respond: oblige })

  async function conformance(args: string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
    const home = await mkdtemp(path.join(tmpdir(), 'conformance-'))
    onTestFinished(() => rm(home, { recursive: true, force: true }))
    const command = [path.join(await packages(), program), ...args]
    return run(process.execPath, command, {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home, ...env },
      timeoutMs: 120_000,
    })
  }

  it.each([
    ['server-initialize', 1],
    ['ping', 1],
    ['tools-list', 1],
    ['server-sse-multiple-streams', 1],
    ['dns-rebinding-protection', 2],
  ])(
    'an assistant is a server: %s',
    async (scenario, checks) => {
      const url = await startOpenServer()
      const printed = await conformance(['server', '--url', url, '--scenario', scenario])
      expect(printed).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`)
    },
    timeoutMs,
  )

  it.each([
    ['initialize', 2],
    ['tools_call', 1],
    ['sse-retry', 3],
  ])(
    'responses are a client: %s',
    async (scenario, checks) => {
      const { client } = await v1Client(service)
      const own = `${process.execPath} ${path.join(import.meta.dirname, 'conformance-client.mjs')}`
      const env = { BASE_URL: client.baseURL, KEY: client.apiKey ?? '' }
      const printed = await conformance(['client', '--command', own, '--scenario', scenario], env)
      expect(printed).toContain(`Passed: ${checks}/${checks}, 0 failed, 0 warnings`)
    },
    timeoutMs,
  )

  /** The tests send no token: a server before `/mcp/{aid}` adds it. Pages of its origin may ask the assistant. */
  async function startOpenServer(): Promise<string> {
    let token = ''
    const server = createServer((incoming, outgoing) => {
      const headers = { ...incoming.headers, authorization: `Bearer ${token}` }
      const { hostname, port } = new URL(service.url)
      const asked = ask({ hostname, port, path: incoming.url, method: incoming.method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      })
      asked.on('error', () => outgoing.destroy())
      outgoing.on('close', () => asked.destroy())
      incoming.pipe(asked)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    const origins = [`http://127.0.0.1:${port}`, `http://localhost:${port}`]
    const assistant = await newPublicAssistant(service, { config: { 'type==agent/allowed_origins': origins } })
    token = assistant.token
    return `http://127.0.0.1:${port}/mcp/${assistant.id}`
  }
})
