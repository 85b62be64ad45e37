import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { type ServiceProcess, startWorkerProcess } from '../support/processes.ts'
import { page, startSite, webReader } from './support.ts'

describe('kill -9 of the worker in the middle of a crawl', () => {
  const service = useModelService({
    worker: false,
    respond: () => ({ text: 'Yes.' }),
    env: { OUTBOUND_ALLOW: '127.0.0.1', CRAWL_PAUSE_MS: '20', WORKER_QUEUES: 'documents,crawls,deletions' },
  })

  it('loses no page and reads few of them twice', async () => {
    const count = 90
    const pages: Record<string, string> = { '/': page('Start', 'The beginning.', paths(count)) }
    for (const [index, path] of paths(count).entries())
      pages[path] = page(`Page ${index}`, `Page ${index} tells of the number ${index * 7919}. `.repeat(8))
    const site = await startSite(pages)
    onTestFinished(() => site.close())
    const reader = await webReader(service)
    const { body } = await reader.add({ type: 'site', url: `${site.url}/` })
    let worker: ServiceProcess | undefined
    for (const asked of [10, 35, 60]) {
      worker = await startWorkerProcess(service.env)
      await eventually(`${asked} pages were asked for`, () => site.asked.length >= asked, 60_000)
      await worker.kill()
    }
    worker = await startWorkerProcess(service.env)
    expect(await reader.ended(body.source_id, 120_000)).toMatchObject({
      status: 'ready',
      pages: count + 1,
      left_out: 0,
    })
    const listed = await reader.pages(body.source_id)
    expect(listed.map(({ status }) => status)).toEqual(Array(count + 1).fill('ready'))
    // A killed step had one page under way, and robots.txt is read anew by each process.
    expect(site.asked.length).toBeLessThanOrEqual(count + 1 + 3 + 4)
    const { files, chunks } = service.collections
    const own = { assistant_id: reader.assistantId }
    expect(await files.countDocuments(own)).toBe(count + 1)
    const summed = await files.aggregate<{ chunks: number }>([
      { $match: own },
      { $group: { _id: null, chunks: { $sum: '$chunks' } } },
    ])
    expect(await service.api.infra.knowledge.vectors.count(reader.assistantId)).toBe(summed[0]?.chunks)
    expect(await chunks.countDocuments(own)).toBeGreaterThan(0)
    await worker.stop()
  }, 300_000)
})

function paths(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `/p/${index}`)
}
