import Fastify from 'fastify'
import { expect, it } from 'vitest'
import { installErrors } from '../../api/plugins/errors.ts'
import { installIdempotency, once } from '../../api/plugins/idempotency.ts'
import { AppError, type ErrorCode } from '../../domain/errors.ts'
import type { Attempt } from '../../services/idempotency-attempt.ts'

/** What is done with the key of a request that makes something, or nothing, and then throws. */
async function outcomeOf(code: ErrorCode, made: 'nothing' | 'something' | 'unknown'): Promise<string> {
  const outcomes: string[] = []
  const end = (name: string) => async () => void outcomes.push(name)
  const attempt: Attempt = {
    renew: async () => true,
    confirm: async () => undefined,
    answer: end('answered'),
    follow: end('followed'),
    forget: end('forgotten'),
    giveUp: end('given up'),
  }
  const app = Fastify()
  installErrors(app, { routes: { methodsOf: () => [] } as never, isUnavailable: () => false })
  installIdempotency(app, { acquire: async () => ({ id: 'new', earlierIds: [], isBegun: false, attempt }) })
  const records = new Set<string>()
  app.decorateRequest('session', null)
  app.decorateRequest('publicAssistant', null)
  app.post('/things', { config: { idempotent: true } as never }, (request) =>
    once(request, {
      async create(id) {
        if (made !== 'nothing') records.add(id)
        throw new AppError(code, 'Refused.')
      },
      async find(id) {
        if (made === 'unknown') throw new Error('the database is away')
        return records.has(id) ? id : null
      },
    }),
  )
  const answer = await app.inject({ method: 'POST', url: '/things', headers: { 'idempotency-key': 'k' } })
  await app.close()
  return `${answer.statusCode} ${outcomes.join()}`
}

it('a refusal before the first effect is forgotten, whatever its status', async () => {
  const refusals = [
    'payment_required',
    'forbidden',
    'not_found',
    'conflict',
    'invalid_input',
    'too_many_requests',
  ] as const
  for (const code of refusals) expect(await outcomeOf(code, 'nothing')).toMatch(/^4\d\d forgotten$/)
})

it('one after an effect is not, so that a repeated request finds what was made', async () => {
  for (const code of ['too_many_requests', 'invalid_input', 'payment_required'] as const)
    for (const made of ['something', 'unknown'] as const)
      expect(await outcomeOf(code, made)).toMatch(/^4\d\d given up$/)
})
