import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../local/services/command.ts'
import { codexCli } from '../support/framework-packages.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import type { ChatRequest, ScriptedReply } from '../support/scripted-model.ts'
import { useSharedService } from '../support/shared-service.ts'
import { v1Client } from './v1-client.ts'

const patch = '*** Begin Patch\n*** Add File: patched.txt\n+by a patch\n*** End Patch\n'

/** What the model answers to each task; it calls one tool, and then says that it is done. */
function respond({ body }: ChatRequest): ScriptedReply {
  const last = body.messages.at(-1)
  if (last?.role === 'tool') return { text: `Done: ${String(last.content).includes('hello') ? 'hello' : 'patched'}` }
  const asked = JSON.stringify(last?.content)
  if (asked.includes('run a command'))
    return { toolCalls: [{ name: 'exec_command', arguments: { cmd: 'echo hello | tee shell.txt' } }] }
  if (asked.includes('apply a patch')) return { toolCalls: [{ name: 'apply_patch', arguments: { input: patch } }] }
  return { text: ['Good ', 'morning.'], usage: { prompt_tokens: 5, completion_tokens: 2 } }
}

describe('the released Codex CLI on /v1, with address and key only', () => {
  const service = useSharedService({ respond })
  const timeoutMs = installTimeoutMs + 120_000
  let home: string
  let program: string
  let key: string

  beforeAll(async () => {
    const { client } = await v1Client(service)
    key = client.apiKey ?? ''
    program = path.join(await codexCli(), 'node_modules/@openai/codex/bin/codex.js')
    home = await mkdtemp(path.join(tmpdir(), 'codex-'))
    await mkdir(path.join(home, 'work'))
    const provider = [
      'name = "own"',
      `base_url = "${client.baseURL}"`,
      'env_key = "OWN_KEY"',
      'wire_api = "responses"',
      'request_max_retries = 0',
      'stream_max_retries = 0',
    ]
    await writeFile(
      path.join(home, 'config.toml'),
      ['model_provider = "own"', '[model_providers.own]', ...provider].join('\n'),
    )
  }, timeoutMs)
  afterAll(() => rm(home, { recursive: true, force: true }))

  /** The last words of the program; `model` decides which tools it brings. */
  async function codex(task: string, model: string): Promise<string> {
    const words = path.join(home, 'last-words')
    const options = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', '-m', model]
    await run(
      process.execPath,
      [program, ...options, '--output-last-message', words, '-C', path.join(home, 'work'), task],
      {
        env: { PATH: process.env['PATH'], HOME: home, CODEX_HOME: home, OWN_KEY: key },
        timeoutMs: 100_000,
      },
    )
    return readFile(words, 'utf8')
  }
  const written = (name: string) => readFile(path.join(home, 'work', name), 'utf8')

  // The first brings a namespace, the second a custom tool with a grammar and a search for tools, the third brings
  // its tools as an item of the input.
  it.each(['gpt-5.4', 'gpt-5.5', 'gpt-6-sol'])(
    'talks as for the model %s',
    async (model) => {
      expect(await codex('say good morning', model)).toBe('Good morning.')
      expect(service.model.requests.at(-1)?.body.model).toBe(model)
    },
    timeoutMs,
  )

  it(
    'runs commands',
    async () => {
      expect(await codex('run a command', 'gpt-5.4')).toBe('Done: hello')
      expect(await written('shell.txt')).toBe('hello\n')
    },
    timeoutMs,
  )

  it(
    'applies patches, which it takes as text',
    async () => {
      expect(await codex('apply a patch', 'gpt-5.5')).toBe('Done: patched')
      expect(await written('patched.txt')).toBe('by a patch\n')
      const offered = service.model.requests
        .at(-1)
        ?.body.tools?.find(({ function: { name } }) => name === 'apply_patch')
      expect(offered?.function.description).toContain('begin_patch')
    },
    timeoutMs,
  )
})
