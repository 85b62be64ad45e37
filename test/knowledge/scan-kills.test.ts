import { Client, Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { startWorkerProcess } from '../support/processes.ts'
import { pdfOf, scanOf } from '../support/scans.ts'
import { insertUser } from '../support/users.ts'

const text = `The board met on the ninth of April at the old custom house.
It resolved to dredge the western basin before the autumn storms.`

describe('kill -9 of the worker while it reads a scan', () => {
  const service = useModelService({
    worker: false,
    respond: () => ({ text: 'Yes.' }),
    env: { EMBEDDING_DIMENSIONS: '64', WORKER_QUEUES: 'documents,deletions' },
  })
  let observer: Connection
  beforeAll(async () => {
    observer = await Connection.connect({ address: inject('services').temporalAddress })
  })
  afterAll(() => observer.close())

  it('loses no page: the file is read anew by another one', async () => {
    const client = await knowledgeClient(await insertUser(service))
    const scan = await scanOf(pdfOf([text]))
    const { body } = await client.upload(
      [{ name: 'minutes.pdf', content: new Uint8Array(pdfOf([scan, scan, text])) }],
      '?wait=false',
    )
    const workflow = new Client({ connection: observer }).workflow.getHandle(`ingestion/${body.ingestion_id}`)
    const reading = async (attempt: number) => {
      const { raw } = await workflow.describe()
      return raw.pendingActivities?.some((one) => (one.attempt ?? 0) >= attempt && one.lastWorkerIdentity !== '')
    }
    const first = await startWorkerProcess(service.env)
    await eventually('the scan is being read', () => reading(1), 60_000)
    await first.kill()
    await eventually('the reading is to be repeated', () => reading(2), 60_000)
    const second = await startWorkerProcess(service.env)
    const view = await eventually(
      'the file is ready',
      async () => {
        const [file] = (await client.list()).body.files
        expect(file.metadata.error ?? null).toBeNull()
        return file.metadata.status === 'ready' && file
      },
      120_000,
    )
    expect(view.metadata.scan).toMatchObject({ pages: 2 })
    const found = await client.call('POST', `/assistants/${client.assistantId}/files/search`, {
      query: 'western basin',
    })
    expect(JSON.stringify(found.body.passages).match(/western basin/g)).toHaveLength(3)
    await second.stop()
  }, 300_000)
})
