import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { demoEmbeddings } from '../../local/demo-model-settings.ts'
import { plainEnv } from '../support/plain-env.ts'

const root = path.join(import.meta.dirname, '../..')
let dataDir = ''
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'assistant-start-'))
})
afterEach(() => rm(dataDir, { recursive: true, force: true }))

/** Runs `npm start`'s command to its end. These starts must fail. */
async function start(env: Record<string, string>): Promise<{ code: number | null; output: string }> {
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; output: string }>()
  const child = spawn(process.execPath, ['local/bootstrap.mjs', 'local/start.ts'], {
    cwd: root,
    // Little is passed on: vitest sets variables that are settings of ours, such as BASE_URL.
    env: {
      ...plainEnv(),
      DATA_DIR: dataDir,
      MODEL_DISCOVERY: 'off',
      EMBEDDING_MODEL: demoEmbeddings,
      CODE_INTERPRETER: 'off',
      ...env,
    },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.on('close', (code) => resolve({ code, output: output.trim() }))
  return promise
}

test('all wrong settings are reported at once, without values and without a stack', async () => {
  const { code, output } = await start({ PORT: 'eighty', SECRETS_KEY: 'too-short-a-key', LOG_LEVEL: 'loud' })
  expect(code).toBe(1)
  expect(output.split('\n')).toHaveLength(4)
  expect(output).toMatch(/PORT must be a whole number/)
  expect(output).toMatch(/SECRETS_KEY must be 32 bytes/)
  expect(output).toMatch(/LOG_LEVEL must be one of/)
  expect(output).not.toContain('too-short-a-key')
})

test('a port in use is reported in one clear line', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  try {
    const { code, output } = await start({ PORT: String(port) })
    expect(output).toBe(`Port ${port} is in use. Stop what listens there, or set PORT to another one.`)
    expect(code).toBe(1)
  } finally {
    other.close()
  }
})

test('a server that cannot start is named, without errors of the API that waits for it', async () => {
  // It needs a folder there.
  await writeFile(path.join(dataDir, 'redis'), '')
  const { code, output } = await start({ PORT: '0' })
  expect(output).toContain(path.join(dataDir, 'redis'))
  expect(output).not.toMatch(/\[api\]|^ +at /m)
  expect(code).toBe(1)
})
