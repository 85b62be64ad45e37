import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import {
  type Operation,
  type Side,
  billingKeys,
  createSide,
  fill,
  idsOn,
  operationsOf,
  send,
} from '../security/cross-user-requests.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'

/** Far above the limit of the service's calls. */
const patienceMs = 30_000
const atOnce = 128
/** The contract answers 500 when no identity provider or user pool is configured. */
const needsProvider = new Set(['accounts.socialLogin', 'accounts.exchange'])

describe('every operation', { timeout: 300_000 }, () => {
  const addresses = { mongodb: 'mongodbUri', redis: 'redisUrl', temporal: 'temporalAddress' } as const
  type Dependency = keyof typeof addresses
  let proxies: Record<Dependency, Awaited<ReturnType<typeof startProxyOf>>>
  let service: ModelService
  let requests: { operation: Operation; examples: unknown[] }[]

  beforeAll(async () => {
    const services = inject('services')
    const proxyOf = (name: Dependency) => startProxyOf(services[addresses[name]])
    proxies = { mongodb: await proxyOf('mongodb'), redis: await proxyOf('redis'), temporal: await proxyOf('temporal') }
    service = await startModelService({
      respond: () => ({ text: 'An answer.' }),
      env: {
        MONGODB_URI: proxies.mongodb.throughProxy,
        REDIS_URL: proxies.redis.throughProxy,
        TEMPORAL_ADDRESS: proxies.temporal.throughProxy,
        DEPENDENCY_TIMEOUT_SECONDS: '4',
        DELETION_WAIT_SECONDS: '1',
        ...billingKeys,
      },
    })
    const { body: document } = await apiClient(service.url).call('GET', '/openapi.json')
    const operations = (await operationsOf(service)).filter(({ name }) => !needsProvider.has(name))
    requests = operations.map((operation) => ({ operation, examples: exampleBodies(document, operation) }))
  })
  afterAll(async () => {
    await service.close()
    for (const proxy of Object.values(proxies)) await proxy.close()
  })

  it.each(['temporal', 'redis', 'mongodb'] as const)('is answered, and not with 500, without %s', async (name) => {
    const own = await createSide(service, 'mine', { user: await insertUser(service) })
    proxies[name].refuse()
    const wrong: string[] = []
    let count = 0
    try {
      const ordered = requests.toSorted((one, other) => rankOf(one.operation) - rankOf(other.operation))
      const queue = ordered.flatMap(({ operation, examples }) =>
        bodiesOf(operation, own, examples).map((body) => ({ operation, body })),
      )
      const next = async () => {
        for (let request = queue.shift(); request !== undefined; request = queue.shift()) {
          const { operation, body } = request
          count += 1
          const token = operation.isPublic ? own.publicToken : own.token
          const query = operation.name === 'files.upload' ? '?wait=false' : ''
          const path = fill(operation.path, idsOn(operation, own)) + query
          const { status, text } = await send(service, operation.method, path, token, body, patienceMs)
          if (status === 0 || status === 500)
            wrong.push(`${operation.method} ${operation.path}: ${status} ${text.slice(0, 200)}`)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, next))
    } finally {
      proxies[name].restore()
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(250)
    await eventually('readiness', async () => (await apiClient(service.url).call('GET', '/ready')).status === 200)
    await eventually('Redis', async () => (await service.redis.ping().catch(() => undefined)) === 'PONG')
  })
})

/** Requests that remove things, or take the public token away, come after those that use them. */
const rankOf = ({ method, path }: Operation) =>
  method === 'DELETE' ? 2 : /^\/assistants\/(?:apply|\{aid\}(?:\/p.*|\/c.*)?)$/.test(path) ? 1 : 0

function bodiesOf({ expectation, method }: Operation, { ids }: Side, examples: unknown[]): unknown[] {
  if (method === 'GET') return [undefined]
  const foreign = expectation !== undefined && 'foreignBody' in expectation ? (expectation.foreignBody ?? []) : []
  const body = expectation !== undefined && 'foreign' in expectation ? [expectation.body?.(ids, ids)] : []
  const bodies = [...foreign.map(({ body }) => body(ids, ids)), ...body, ...examples]
  return bodies.length === 0 ? [undefined] : bodies
}

/** Those of the document. */
function exampleBodies({ paths, components }: any, { path, method }: Operation): unknown[] {
  const schema = paths[path][method.toLowerCase()].requestBody?.content['application/json']?.schema
  return components.schemas[schema?.$ref?.split('/').at(-1)]?.examples ?? []
}
