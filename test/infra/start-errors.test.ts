import { expect, it } from 'vitest'
import { reasonOf } from '../../domain/reason-of.ts'
import { loadSettings } from '../../infra/config.ts'
import { connectInfra } from '../../infra/index.ts'
import { createLogger } from '../../infra/logger.ts'
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
