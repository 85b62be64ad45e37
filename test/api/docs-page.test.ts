import { createContext, runInContext } from 'node:vm'
import { expect, it } from 'vitest'
import { useSharedService } from '../support/shared-service.ts'

const service = useSharedService()

it('/docs keeps no token when its page is closed, and removes those of versions before', async () => {
  const script = await (await fetch(`${service.url}/docs/start.js`)).text()
  const kept = new Map([['authorized', '{"userToken":"secret"}']])
  const shown: Record<string, unknown>[] = []
  const page = createContext({
    fetch: async () => ({ json: async () => ({ paths: { '/ok': { options: {} } } }) }),
    localStorage: { removeItem: (name: string) => kept.delete(name) },
    window: { SwaggerUIBundle: Object.assign((options: object) => shown.push({ ...options }), { presets: {} }) },
  })
  await runInContext(`(async () => {${script}})()`, page)
  expect(shown).toHaveLength(1)
  expect(shown[0]).toMatchObject({ spec: { paths: { '/ok': {} } } })
  expect(shown[0]?.['persistAuthorization'] ?? false).toBe(false)
  expect(kept.size).toBe(0)
})
