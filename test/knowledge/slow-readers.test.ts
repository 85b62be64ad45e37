import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { embeddingSlots } from '../../domain/knowledge/slots.ts'
import { eventually } from '../support/eventually.ts'
import { deepOdt, repeatedOdt, silentPdf } from '../support/hostile-files.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { useModelService } from '../support/model-service.ts'
import { type RunningService } from '../support/service.ts'
import { slowFiles } from '../support/slow-files.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

const slow = { name: 'slow.pdf', content: Uint8Array.from(silentPdf()) }
const small = { name: 'small.txt', content: 'The dredging of the western basin cost 73,500 marks.' }

/** Only a test's own word ends a slow file: no limit of time does. */
const settings = { extractCpuSeconds: 3600, extractTimeoutSeconds: 3600 }

/** `QUEUED_FILES=1000 npm test -- test/knowledge/slow-readers.test.ts` queues as many as an impatient user would. */
const queued = Number(process.env['QUEUED_FILES'] ?? 12)
const slotsOfOneUser = embeddingSlots.slotsPerOwner

/** Resolves when `count` files of an assistant are being read. */
function reading({ collections }: RunningService, assistantId: string, count: number) {
  return eventually(`${count} files that are read`, async () => {
    return (await collections.files.countDocuments({ assistant_id: assistantId, status: 'processing' })) === count
  })
}

/** The processes that read files for services of this process: also for one that other tests share. */
async function readers(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'ppid=,pid=,args='], { maxBuffer: 16 * 1024 * 1024 })
  return stdout
    .split('\n')
    .filter((line) => /(?:extract\/child\/main\.ts|readers\/main\.mjs)/.test(line))
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([parent, pid]) => (parent === String(process.pid) && pid !== undefined ? [pid] : []))
}

describe('files that are slow to read or to embed', { timeout: 120_000 + queued * 4000 }, () => {
  const service = useModelService({ settings, env: { EMBEDDING_DIMENSIONS: '64', EXTRACT_CONCURRENCY: '2' } })

  it(`leave a slot to another user's small file, also if there are ${queued} of them in separate uploads`, async () => {
    const hog = await knowledgeClient(await insertUser(service))
    const bystander = await knowledgeClient(await insertUser(service))
    // The same bytes would be read once.
    for (let upload = 0; upload < queued; upload++)
      await hog.upload(
        [{ ...slow, content: Uint8Array.from(Buffer.concat([slow.content, Buffer.from(`\n% ${upload}`)])) }],
        '?wait=false',
      )
    await reading(service, hog.assistantId, 1)
    const { body } = await bystander.upload([small])
    expect(body.files[0].metadata).toMatchObject({ status: 'ready' })
    expect(
      await service.collections.files.countDocuments({ assistant_id: hog.assistantId, status: 'processing' }),
    ).toBe(1)
    await hog.call('DELETE', `/assistants/${hog.assistantId}`)
  })

  it.each([...new Set(slowFiles.map(({ name }) => name))])(
    "of the kind of %s, made to be slow, leave a slot and another user's run",
    async (kind) => {
      const hog = await knowledgeClient(await insertUser(service))
      const bystander = await knowledgeClient(await insertUser(service))
      const worst = slowFiles
        .filter(({ name }) => name === kind)
        .map(({ make }) => ({ name: kind, content: Uint8Array.from(Buffer.from(make(64 * 1024))) }))
      const { body: taken } = await hog.upload(worst, '?wait=false')
      expect(taken.files).toHaveLength(worst.length)
      const { body } = await bystander.upload([small])
      expect(body.files[0].metadata).toMatchObject({ status: 'ready' })
      service.model.reply({ text: '73,500 marks.' })
      const { body: thread } = await bystander.call('POST', '/threads/', { assistant_id: bystander.assistantId })
      const ids = { thread_id: thread.thread_id, assistant_id: bystander.assistantId }
      const input = [{ type: 'human', content: 'What did the dredging cost?' }]
      const run = await bystander.fetch('POST', '/runs/stream', { ...ids, input, config: { configurable: ids } })
      expect((await allEvents(run)).at(-1)?.event).toBe('end')
      const ended = { assistant_id: hog.assistantId, status: { $in: ['ready' as const, 'failed' as const] } }
      await eventually(
        'an end of each slow file',
        async () => (await service.collections.files.countDocuments(ended)) === worst.length,
        100_000,
      )
    },
  )

  it('fail with their reason when small RTF and OpenDocument files expand or nest, and leave a slot to another user', async () => {
    const hog = await knowledgeClient(await insertUser(service))
    const bystander = await knowledgeClient(await insertUser(service))
    const bombs = [
      { name: 'nested.rtf', content: `{\\rtf1${'{'.repeat(5000)}` },
      { name: 'nested.odt', content: Uint8Array.from(deepOdt(100_000)) },
      { name: 'wide.odt', content: Uint8Array.from(repeatedOdt(8)) },
    ]
    for (const { content } of bombs) expect(content.length).toBeLessThan(6 * 1024)
    const refused = Promise.all(bombs.map((bomb) => hog.upload([bomb])))
    const { body } = await bystander.upload([small])
    expect(body.files[0].metadata).toMatchObject({ status: 'ready' })
    const reasons = (await refused).map(({ body: { files } }) => files[0].metadata.error)
    expect(reasons).toEqual([
      expect.stringContaining('nests its parts too deeply'),
      expect.stringContaining('nests its elements too deeply'),
      expect.stringContaining('repeats the contents of its cells'),
    ])
  })

  it(`leave a slot while ${queued} of them, in separate uploads, wait for the embedding server`, async () => {
    const hog = await knowledgeClient(await insertUser(service))
    const bystander = await knowledgeClient(await insertUser(service))
    const gate = Promise.withResolvers<void>()
    const { embeddings } = service.model
    embeddings.waitFor(gate.promise, 0, (text) => text.includes('slow to embed'))
    const before = embeddings.requests
    // The same text would be embedded once.
    for (let upload = 0; upload < queued; upload++)
      await hog.upload([{ name: 'held.txt', content: `Text ${upload} is slow to embed.` }], '?wait=false')
    await eventually('as many requests as one user may have', () => embeddings.requests - before >= slotsOfOneUser)
    const { body } = await bystander.upload([small])
    expect(body.files[0].metadata).toMatchObject({ status: 'ready' })
    const ready = () => service.collections.files.countDocuments({ assistant_id: hog.assistantId, status: 'ready' })
    expect(await ready()).toBe(0)
    gate.resolve()
    await eventually('all files', async () => (await ready()) === queued, 60_000 + queued * 3000)
  })
})

describe('a file that is being read when it is deleted', () => {
  let others: string[]
  beforeAll(async () => {
    others = await readers()
  })
  const service = useModelService({ settings, env: { EMBEDDING_DIMENSIONS: '64', EXTRACT_CONCURRENCY: '1' } })

  it.each([
    ['itself', (assistant: string, file: string) => `/assistants/${assistant}/files/${file}`],
    ['with its assistant', (assistant: string) => `/assistants/${assistant}`],
  ])('loses its process and releases its slot: %s', async (_what, path) => {
    const owner = await knowledgeClient(await insertUser(service))
    const { body } = await owner.upload([slow], '?wait=false')
    await reading(service, owner.assistantId, 1)
    const own = async () => (await readers()).filter((pid) => !others.includes(pid)).length
    // One works, one waits for the next file.
    await eventually('two processes', async () => (await own()) === 2)
    expect((await owner.call('DELETE', path(owner.assistantId, body.files[0].id))).status).toBeLessThan(300)
    await eventually('the end of the process', async () => (await own()) === 1)
  })
})
