import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { demoModelEnv } from '../../local/demo-model-settings.ts'
import { createDemoModel } from '../../local/demo-model/server.ts'
import { plainEnv } from '../support/plain-env.ts'
import { type ServiceProcess, startApiProcess, startWorkerProcess } from '../support/processes.ts'
import { serviceEnv } from '../support/service.ts'

const run = promisify(execFile)

/** What a new user does first, against an API and a worker that run as processes of their own, with the demo model. */
describe('the quickstart', () => {
  const demo = createDemoModel({ tokenDelayMs: 1 })
  let worker: ServiceProcess
  let api: ServiceProcess & { url: string }
  let env: Record<string, string>

  beforeAll(async () => {
    demo.listen(0, '127.0.0.1')
    await once(demo, 'listening')
    const address = demo.address() as AddressInfo
    env = serviceEnv(demoModelEnv(address.port))
    ;[worker, api] = await Promise.all([startWorkerProcess(env), startApiProcess(env)])
  })
  afterAll(async () => {
    await Promise.all([worker.stop(), api.stop()])
    demo.close()
    demo.closeAllConnections()
    await rm(env['DATA_DIR'] ?? '', { recursive: true, force: true })
  })

  const start = (command: string, file: string) =>
    run(command, [file], {
      env: { ...plainEnv(), API_URL: api.url, MAILBOX_URL: inject('services').mailboxUrl },
      timeout: 50_000,
    })

  it('goes from sign-up to an answer with sh and curl', async () => {
    const { stdout } = await start('sh', 'examples/quickstart/quickstart.sh')
    const events = [...stdout.matchAll(/^event: (\w+)$/gm)].map((match) => match[1])
    expect(events.slice(0, 3)).toEqual(['start', 'metadata', 'data'])
    expect(events.at(-1)).toBe('end')
    const state = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{')))
    expect(state.values.messages).toMatchObject([
      { type: 'HumanMessage', data: { content: 'Hello! Who are you?' } },
      { type: 'AIMessage', data: { content: expect.stringContaining('demo model') } },
    ])
  })

  it('goes from sign-up to an answer in TypeScript', async () => {
    const { stdout } = await start(process.execPath, 'examples/quickstart/quickstart.ts')
    const [, streamed = ''] = /5\. Stream a run\n\n(.*)\n\n6\./.exec(stdout) ?? []
    expect(streamed).toContain('demo model')
    expect(stdout).toContain('HumanMessage: Hello! Who are you?')
    expect(stdout).toContain(`AIMessage: ${streamed}`)
  })

  it('explains what to do when the service is not running', async () => {
    for (const [command, file] of [
      ['sh', 'examples/quickstart/quickstart.sh'],
      [process.execPath, 'examples/quickstart/quickstart.ts'],
    ] as const) {
      const failed: unknown = await run(command, [file], {
        env: { ...plainEnv(), DATA_DIR: '/nowhere' },
      }).catch((error: unknown) => error)
      expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('npm start') })
    }
  })
})
