import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'

const paragraph = 'The dredging of the western basin took all of the summer, and the board paid for it in three parts. '

describe.each([
  { dependency: 'mongodb', variable: 'MONGODB_URI' },
  { dependency: 'temporal', variable: 'TEMPORAL_ADDRESS' },
] as const)('a file that is being embedded during an outage of $dependency', { timeout: 240_000 }, (given) => {
  let proxy: Awaited<ReturnType<typeof startProxyOf>>
  let service: ModelService
  /** Not by way of the proxy: it sees what the workers meet. */
  let observer: Connection

  beforeAll(async () => {
    const { mongodbUri: mongodb, temporalAddress: temporal } = inject('services')
    proxy = await startProxyOf({ mongodb, temporal }[given.dependency])
    service = await startModelService({
      env: { EMBEDDING_DIMENSIONS: '64', [given.variable]: proxy.throughProxy, DEPENDENCY_TIMEOUT_SECONDS: '4' },
    })
    observer = await Connection.connect({ address: temporal })
  })
  afterAll(async () => {
    proxy.restore()
    await service.close()
    await observer.close()
    await proxy.close()
  })

  it('is ready when the server is back, without loss or failure', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const gate = Promise.withResolvers<void>()
    service.model.embeddings.waitFor(gate.promise, 1)
    const { body } = await client.upload([{ name: 'long.txt', content: paragraph.repeat(20_000) }], '?wait=false')
    // One batch is stored; the others are under way.
    await eventually('embeddings', async () => service.model.embeddings.requests > 1 && isBegun())
    async function isBegun() {
      return (await service.collections.files.countDocuments({ _id: body.files[0].id, embedded: { $gt: 0 } })) > 0
    }

    proxy.refuse()
    gate.resolve()
    const workflow = new Client({ connection: observer }).workflow.getHandle(`ingestion/${body.ingestion_id}`)
    await eventually(
      'a second attempt',
      async () => {
        const { raw } = await workflow.describe()
        return raw.pendingActivities?.some(({ attempt }) => (attempt ?? 0) > 1)
      },
      60_000,
    )
    expect((await workflow.describe()).status.name).toBe('RUNNING')
    proxy.restore()

    const view = await eventually(
      'a ready file',
      async () => {
        const [file] = (await client.list()).body.files
        return ['ready', 'failed'].includes(file.metadata.status) && file.metadata
      },
      120_000,
    )
    expect(view).toMatchObject({ status: 'ready', embedded: view.chunks })
    expect(await service.api.infra.knowledge.vectors.count(client.assistantId)).toBe(view.chunks)
    await workflow.result()
  })
})
