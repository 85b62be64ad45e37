import { createRequire } from 'node:module'
import Fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { installPluginNames } from '../../api/plugins/plugin-names.ts'

const { cache } = createRequire(import.meta.url)
const probe = 'a module whose reads are counted'

describe('the plugins of an API', () => {
  afterEach(() => {
    delete cache[probe]
  })

  it.each([
    { names: 'with', reads: 0 },
    { names: 'without', reads: 4 },
  ])('$names names are looked for $reads times among the loaded modules', async ({ names, reads }) => {
    let read = 0
    const probed = { get: () => ((read += 1), undefined) }
    cache[probe] = Object.defineProperty({}, 'exports', probed) as NodeJS.Module
    const app = Fastify()
    if (names === 'with') installPluginNames(app)
    const asked: string[] = []
    await app.register(async (outer) => {
      await outer.register(
        async (inner, { greeting }: { greeting: string }) => {
          inner.get('/inner', () => greeting)
          asked.push(inner.prefix)
        },
        { prefix: '/within', greeting: 'hello' },
      )
    })
    expect((await app.inject('/within/inner')).body).toBe('hello')
    expect(asked).toEqual(['/within'])
    expect(read).toBe(reads)
    await app.close()
  })
})
