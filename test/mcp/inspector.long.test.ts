import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../local/services/command.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { useModelService } from '../support/model-service.ts'
import { npmPackages } from '../support/npm-packages.ts'
import { installTimeoutMs } from '../support/python-packages.ts'

const inspector = '@modelcontextprotocol/inspector@2.12.0'

describe('the command line of the MCP inspector', () => {
  const service = useModelService({ env: { EMBEDDING_DIMENSIONS: '64' }, respond: () => ({ text: 'Until three.' }) })

  it(
    'lists the tools of an assistant and asks it',
    async () => {
      const { id, token } = await newPublicAssistant(service)
      const packages = await npmPackages('mcp-inspector', [inspector])
      const home = await mkdtemp(path.join(tmpdir(), 'inspector-'))
      onTestFinished(() => rm(home, { recursive: true, force: true }))
      const program = path.join(packages, 'node_modules/.bin/mcp-inspector')
      const call = async (...args: string[]): Promise<unknown> => {
        const server = ['--transport', 'http', '--server-url', `${service.url}/mcp/${id}`]
        const header = ['--header', `Authorization: Bearer ${token}`]
        const env = { PATH: process.env['PATH'], HOME: home }
        const printed = await run(process.execPath, [program, '--cli', ...server, ...header, ...args], {
          env,
          timeoutMs: 60_000,
        })
        return JSON.parse(printed)
      }
      expect(await call('--method', 'tools/list')).toMatchObject({ tools: [{ name: 'ask' }, { name: 'search' }] })
      const asked = ['--tool-name', 'ask', '--tool-arg', 'question=When does the office close?']
      expect(await call('--method', 'tools/call', ...asked)).toMatchObject({
        content: [{ type: 'text', text: 'Until three.' }],
        structuredContent: { answer: 'Until three.', citations: [] },
      })
    },
    installTimeoutMs + 120_000,
  )
})
