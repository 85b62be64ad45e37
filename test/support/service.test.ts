import { expect, inject, it } from 'vitest'
import { serviceEnv } from './service.ts'

const databaseOf = (env: Record<string, string>) => new URL(serviceEnv(env)['MONGODB_URI'] ?? '').pathname

it('gives each service a database of its own, also by way of a proxy, and keeps one that is named', () => {
  const proxied = { MONGODB_URI: inject('services').mongodbUri.replace(/127\.0\.0\.1:\d+/, '127.0.0.1:1') }
  const databases = [{}, {}, proxied, proxied].map(databaseOf)
  expect(new Set(databases).size).toBe(4)
  expect(databases).toEqual(databases.map(() => expect.stringMatching(/^\/test_[0-9a-f]{12}$/)))
  const named = serviceEnv()
  expect(databaseOf(named)).toBe(databaseOf({ MONGODB_URI: named['MONGODB_URI'] ?? '' }))
})
