import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { loadSettings } from '../../infra/config.ts'
import { connectDatabase } from '../../infra/mongo/connect.ts'
import { connectRedis } from '../../infra/redis/connect.ts'
import { connectTemporal } from '../../infra/temporal/connect.ts'
import { createAuthority } from '../support/certificates.ts'
import { serviceEnv, startService } from '../support/service.ts'
import { startTlsProxy } from '../support/tls-proxy.ts'

/** Real servers behind TLS with a private authority; clients must show a certificate of it, too. */
describe('connections with TLS', () => {
  let authority: Awaited<ReturnType<typeof createAuthority>>
  let stranger: Awaited<ReturnType<typeof createAuthority>>
  let proxies: Awaited<ReturnType<typeof startTlsProxy>>[] = []
  let addresses: { MONGODB_URI: string; REDIS_URL: string; TEMPORAL_ADDRESS: string }

  beforeAll(async () => {
    authority = await createAuthority('ours')
    stranger = await createAuthority('theirs')
    const services = inject('services')
    const targets = [new URL(services.mongodbUri).host, new URL(services.redisUrl).host, services.temporalAddress]
    proxies = await Promise.all(targets.map((target) => startTlsProxy(target, authority.server, authority.ca)))
    const [mongo, redis, temporal] = proxies.map(({ address }) => address)
    const database = new URL(serviceEnv()['MONGODB_URI'] ?? '').pathname
    addresses = {
      MONGODB_URI: `mongodb://${mongo}${database}?directConnection=true`,
      REDIS_URL: `rediss://${redis}`,
      TEMPORAL_ADDRESS: temporal ?? '',
    }
  })
  afterAll(() => Promise.all(proxies.map((proxy) => proxy.close())))

  const names = ['MONGODB_TLS', 'REDIS_TLS', 'TEMPORAL_TLS']
  const variables = (ca: string, { cert = '', key = '' }: { cert?: string; key?: string } = {}) =>
    Object.fromEntries(
      names.flatMap((name) => [
        [`${name}_CA`, ca],
        [`${name}_CERT`, cert],
        [`${name}_KEY`, key],
      ]),
    )
  const settingsWith = (tls: Record<string, string>) =>
    loadSettings(serviceEnv({ ...addresses, DEPENDENCY_TIMEOUT_SECONDS: '2', ...tls }))

  it('work from API and worker to every server', async () => {
    const service = await startService({ env: { ...addresses, ...variables(authority.ca, authority.client) } })
    try {
      const { dependencies } = JSON.parse(await (await fetch(`${service.url}/ok`)).text())
      expect(dependencies).toMatchObject({
        mongodb: { status: 'ok' },
        redis: { status: 'ok' },
        temporal: { status: 'ok' },
      })
    } finally {
      await service.close()
    }
  })

  const connects = {
    MongoDB: async (tls: Record<string, string>) => {
      const settings = settingsWith(tls)
      const database = await connectDatabase(settings.mongodbUri, { tls: settings.mongodbTls, timeoutMs: 2000 })
      await database.close()
    },
    Redis: async (tls: Record<string, string>) => {
      const settings = settingsWith(tls)
      const failed = Promise.withResolvers<never>()
      const connecting = connectRedis(settings.redisUrl, { tls: settings.redisTls, onError: failed.reject })
      const redis = await Promise.race([connecting, failed.promise])
      await redis.ping()
      await redis.close()
    },
    Temporal: async (tls: Record<string, string>) => {
      const temporal = await connectTemporal(settingsWith(tls))
      await temporal.ping()
      await temporal.close()
    },
  }

  for (const [name, connect] of Object.entries(connects)) {
    it(`to ${name} refuse a server of another authority, and are refused without a certificate`, async () => {
      await connect(variables(authority.ca, authority.client))
      await expect(connect(variables(stranger.ca, authority.client))).rejects.toThrow()
      await expect(connect(variables(authority.ca))).rejects.toThrow()
      await expect(connect(variables(authority.ca, stranger.client))).rejects.toThrow()
    })
  }

  it('report an invalid certificate, and a certificate without its key', () => {
    const said = (tls: Record<string, string>) => {
      try {
        settingsWith(tls)
        return ''
      } catch (error) {
        return String(error)
      }
    }
    expect(said({ TEMPORAL_TLS_CA: 'hidden-value' })).toMatch(/TEMPORAL_TLS_CA must be in PEM form/)
    expect(said({ TEMPORAL_TLS_CA: 'hidden-value' })).not.toContain('hidden-value')
    expect(said({ REDIS_TLS_CERT: authority.client.cert })).toContain('REDIS_TLS_CERT and REDIS_TLS_KEY')
    expect(said({ TEMPORAL_TLS_CA: authority.ca.replaceAll('\n', String.raw`\n`) })).toBe('')
  })
})
