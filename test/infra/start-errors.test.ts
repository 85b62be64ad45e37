import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { reasonOf } from '../../domain/reason-of.ts'
import { loadSettings } from '../../infra/config.ts'
import { connectInfra } from '../../infra/index.ts'
import { createLogger } from '../../infra/logger.ts'
import { plainEnv } from '../support/plain-env.ts'
import { serviceEnv } from '../support/service.ts'

it('an unusable database at the start is reported with its setting and the reason', async () => {
  const settings = loadSettings(serviceEnv({ MONGODB_URI: 'not-a-mongodb-address' }))
  await expect(connectInfra(settings, createLogger('test', 'silent'))).rejects.toThrow(
    /^MongoDB \(MONGODB_URI\) cannot be used: .*Invalid scheme/,
  )
})

it('the reason is found in the causes of errors without a message', () => {
  const refused = new AggregateError([new Error('connect ECONNREFUSED ::1:1'), new Error('another')], '')
  expect(reasonOf(new Error('fetch failed', { cause: refused }))).toBe('fetch failed: connect ECONNREFUSED ::1:1')
  expect(reasonOf(new Error('a\nb'))).toBe('a b')
  expect(reasonOf('text')).toBe('text')
})

it('weak secrets stop the API and the worker of the image before they connect to a server', async () => {
  const root = path.join(import.meta.dirname, '../..')
  expect(await readFile(path.join(root, 'Dockerfile'), 'utf8')).toContain('ENV NODE_ENV=production')
  const names = ['JWT_SECRET', 'ADMIN_TOKEN', 'TEMPORAL_CODEC_TOKEN', 'JWT_DECODE_KEY_BASE64']
  const weak = Object.fromEntries(names.map((name) => [name, 'w'.repeat(31)]))
  for (const script of ['api/server.ts', 'worker/main.ts']) {
    const env = { ...plainEnv(), ...weak, NODE_ENV: 'production' }
    const child = spawn(process.execPath, [script], { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] })
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    for (const name of names) expect(said).toContain(`${name} must be at least 32 characters long`)
    expect(said).toContain('SECRETS_KEY is missing')
    expect(code).toBe(1)
  }
})
