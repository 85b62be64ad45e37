import { describe, expect, inject, it } from 'vitest'
import { startApi } from '../../api/start-api.ts'
import { createLogger } from '../../infra/logger.ts'
import { serveRuns } from '../../worker/serve-runs.ts'
import { useModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { conversation } from './support.ts'

it('a process that starts without Redis serves runs, and subscribes when Redis is back', async () => {
  const listening = Promise.withResolvers<void>()
  let tries = 0
  let isStopped = false
  const subscribeSuperseded = async () => {
    tries++
    if (tries === 1) throw new Error('Disconnects client')
    listening.resolve()
    return async () => {
      isStopped = true
    }
  }
  const platform = {
    runs: { runUpkeep: { subscribeSuperseded, subscribeForgotten: async () => async () => {}, sweep: async () => {} } },
  }
  const stop = await serveRuns(platform as never, createLogger('test', 'silent'))
  await listening.promise
  await stop()
  expect(tries).toBe(2)
  expect(isStopped).toBe(true)
})

describe('an API process whose worker finds Temporal away', () => {
  const service = useModelService({ respond: () => ({ text: 'Hello' }) })

  /** It has reached Temporal once, and serves requests; its worker connects a moment later. */
  async function startWithoutTemporal() {
    const proxy = await startProxyOf(inject('services').temporalAddress)
    const waits = Promise.withResolvers<void>()
    const write = (line: string) => {
      if (line.includes('waits for Temporal')) waits.resolve()
    }
    const settings = { ...service.settings, temporalAddress: proxy.throughProxy, runsInApi: true }
    const api = await startApi(settings, createLogger('second', 'warn', { write }))
    proxy.refuse()
    await waits.promise
    return { api, proxy }
  }

  it('serves runs when it is back', async () => {
    const { api, proxy } = await startWithoutTemporal()
    proxy.restore()
    await api.servesRuns
    const talk = await conversation({ ...service, url: api.address })
    expect(await talk.stream('Hi')).toMatchObject({ end: 'end', messages: [{ data: { content: 'Hello' } }] })
    await api.close()
    await proxy.close()
  })

  it('ends when it is told to', async () => {
    const { api, proxy } = await startWithoutTemporal()
    await api.close()
    await expect(api.finished).resolves.toBeUndefined()
    await proxy.close()
  })
})
