import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { run } from '../../local/services/command.ts'
import { plainEnv } from '../support/plain-env.ts'
import { pythonWithClients, runPython } from '../support/python-clients.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { useSharedService } from '../support/shared-service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

describe('the examples of the public family', () => {
  const service = useSharedService({
    respond: ({ body }) => ({ text: ['You said: ', String(body.messages.at(-1)?.content)] }),
  })
  let python: string
  let env: Record<string, string>

  beforeAll(async () => {
    python = await pythonWithClients()
    const base = plainEnv()
    const opened = await run('sh', ['examples/public/open-assistant.sh'], {
      cwd: root,
      env: { ...base, API_URL: service.url, MAILBOX_URL: inject('services').mailboxUrl },
    })
    const set = [...opened.matchAll(/(\w+)='([^']*)'/g)].map(([, name = '', value = '']) => [name, value])
    env = { ...base, ...Object.fromEntries(set) }
  }, installTimeoutMs)

  it('curl.sh', async () => {
    const output = await run('sh', ['examples/public/curl.sh'], { cwd: root, env })
    expect(output).toContain('event: end')
    expect(output).toContain('"object":"chat.completion"')
    expect(output.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  it('chat.ts', async () => {
    const output = await run(process.execPath, ['examples/public/chat.ts'], { cwd: root, env })
    expect(output).toContain('You said: Hello! Who are you?')
    expect(output).toContain('15 tokens')
    expect(output).toContain('assistant: You said: What is my name?')
  })

  it('chat.py', async () => {
    const output = await runPython(python, 'examples/public/chat.py', env)
    expect(output).toContain('You said: Hello! Who are you?')
    expect(output).toContain('15 tokens')
    expect(output).toContain('assistant: You said: What is my name?')
  })
})
