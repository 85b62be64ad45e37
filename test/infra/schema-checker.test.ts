import { afterAll, describe, expect, it } from 'vitest'
import { createSchemaChecker } from '../../infra/schema-checks/schema-checker.ts'
import { createSemaphore } from '../../services/semaphore.ts'

const text = (schema: object) => ({ type: 'object', properties: { text: { type: 'string', ...schema } } })
/** 2^40 ways through forty definitions, none of which fits. */
const exponential = {
  type: 'object',
  $defs: Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => [
      `d${level}`,
      level === 39 ? { required: ['no'] } : { anyOf: [ref(level + 1), ref(level + 1)] },
    ]),
  ),
  $ref: '#/$defs/d0',
}

describe('the thread that checks untrusted schemas', () => {
  const newChecker = (limitMs: number) =>
    createSchemaChecker(createSemaphore({ slots: 1, waitingPerOwner: 10 }), { limitMs })
  // A busy machine takes its time for what ends.
  const [checker, strict] = [newChecker(60_000), newChecker(3000)]
  afterAll(async () => {
    await Promise.all([checker.close(), strict.close()])
  })
  const signal = new AbortController().signal
  const check = (schema: object, args: Record<string, unknown>, { by = checker, userId = 'me' } = {}) =>
    by.check(schema, args, { userId, signal })

  it('describes what is wrong', async () => {
    expect(await check(text({ maxLength: 3 }), { text: 'abc' })).toBeUndefined()
    expect(await check(text({ maxLength: 3 }), { text: 'abcd' })).toContain('/text must NOT have more than 3')
    expect(await check(text({ format: 'email' }), { text: 'me' })).toContain('must match format "email"')
  })

  it('matches catastrophic expressions in linear time', async () => {
    const worst = `${'a'.repeat(50_000)}!`
    expect(await check(text({ pattern: '^(a+)+$' }), { text: worst })).toContain('must match pattern')
    const keys = { type: 'object', patternProperties: { '^(a|a)*$': { type: 'number' } } }
    expect(await check(keys, { [worst]: 'no number' })).toBeUndefined()
    expect(await check(keys, { aaa: 'no number' })).toContain('must be number')
    expect(await check(text({ pattern: '^\\d{3}[\\u00e9]\\/$' }), { text: '123é/' })).toBeUndefined()
  })

  it.each([
    ['an expression that only JavaScript knows', text({ pattern: '^(?=a)(b)\\1$' })],
    ['a reference to nowhere', { type: 'object', $ref: 'https://example.com/schema' }],
    ['an asynchronous schema', { $async: true, ...text({ maxLength: 1 }) }],
    ['no schema at all', { type: 7 }],
  ])('checks no arguments with %s', async (_what, schema) => {
    expect(await check(schema, { text: 'anything' })).toBeUndefined()
  })

  it('is terminated when a check takes too long; other checks continue, and the schema is not used again', async () => {
    const other = { by: strict, userId: 'other' }
    const worst = Array.from({ length: 5 }, () => check(exponential, {}, other))
    expect(await check(text({ maxLength: 3 }), { text: 'abcd' }, { by: strict })).toContain('/text')
    expect(await Promise.all(worst)).toEqual(Array.from({ length: 5 }, () => undefined))
    expect(await check(exponential, {}, other)).toBeUndefined()
    expect(await check(text({ maxLength: 3 }), { text: 'abc' }, { by: strict })).toBeUndefined()
  })

  it('drops checks for which nobody waits any more', async () => {
    const stop = new AbortController()
    const checking = checker.check(text({}), {}, { userId: 'me', signal: stop.signal })
    stop.abort(new Error('cancelled'))
    await expect(checking).rejects.toThrow('cancelled')
  })
})

function ref(level: number) {
  return { $ref: `#/$defs/d${level}` }
}
