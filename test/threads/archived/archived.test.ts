import { Readable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../../domain/ids.ts'
import { createSecretBox } from '../../../services/secrets.ts'
import { packTexts, unpackTexts } from '../../../services/threads/archived/format.ts'
import { createArchiveMaintenance } from '../../../services/threads/archived/maintenance.ts'
import { archiveOwnerOf } from '../../../services/threads/archived/open.ts'
import { conversation, readRun } from '../../runs/support.ts'
import { archiveOf, importInto, linesIn } from '../../support/archives.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { useSharedService } from '../../support/shared-service.ts'
import { insertUser } from '../../support/users.ts'
import {
  archive,
  archiving,
  birds,
  contentsOf,
  inEntries,
  placesOf,
  recordOf,
  settled,
  threadOf,
  threadWithRun,
  valuesOf,
} from '../../support/archived-threads.ts'

const service = useSharedService({
  respond: ({ body }) => ({ text: `${body.messages.length} messages, the first ${String(body.messages[0]?.content)}` }),
})
const dayMs = 86_400_000
const archivedPlaces = { emptied: birds.length, objects: 1, isNamed: true }

async function archived() {
  const user = await insertUser(service)
  const id = await threadOf(user)
  const before = await valuesOf(user, id)
  await archive(service, id)
  expect(await placesOf(service, id)).toEqual(archivedPlaces)
  return { user, id, before }
}

describe('an archived thread', () => {
  it('comes back when two readers open it at once, and its object goes', async () => {
    const { user, id, before } = await archived()
    expect(await Promise.all([valuesOf(user, id), valuesOf(user, id)])).toEqual([before, before])
    expect(await placesOf(service, id)).toEqual(inEntries)
    expect((await recordOf(service, id)).opened_at).toBeInstanceOf(Date)
  })

  it('comes back in two processes at once', async () => {
    const { user, id, before } = await archived()
    await Promise.all([archiving(service).threads.bringBack(id), archiving(service).threads.bringBack(id)])
    expect(await placesOf(service, id)).toEqual(inEntries)
    expect(await valuesOf(user, id)).toBe(before)
  })

  it('takes new messages, of people and of a run that sees the old ones', async () => {
    const { user, id } = await archived()
    await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content: 'dunlin' }] })
    const { assistant_id: assistant } = await user.post('/assistants/', { name: 'Helper', config: {} })
    const asked = { thread_id: id, assistant_id: assistant, input: [{ type: 'human', content: 'egret' }] }
    const run = await readRun(await user.fetch('POST', '/runs/stream', asked))
    expect(run.messages.at(-1)?.data.content).toBe('5 messages, the first albatross')
    const read = await valuesOf(user, id)
    for (const name of [...birds, 'dunlin', 'egret']) expect(read).toContain(name)
  })

  it('is listed and found by its words, and stays archived', async () => {
    const { user, id } = await archived()
    const { threads } = await user.get('/threads/')
    expect(threads).toMatchObject([{ thread_id: id }])
    const { found } = await user.get('/search/messages?q=cormorant')
    expect(found).toMatchObject([{ thread: { thread_id: id }, snippet: 'cormorant' }])
    expect(await placesOf(service, id)).toEqual(archivedPlaces)
  })

  it('is exported whole, stays archived, and can be imported', async () => {
    const { user, id } = await archived()
    const bytes = await archiveOf(service, user)
    const contents = linesIn(gunzipSync(bytes), 'messages').map(({ messages }) => messages[0].data.content)
    expect(contents).toEqual(birds)
    expect(await placesOf(service, id)).toEqual(archivedPlaces)
    const target = await insertUser(service)
    expect((await importInto(service, target, bytes)).body).toMatchObject({ problems: [] })
    const imported = await service.collections.threads.findOne({ user_id: target.userId }).lean().orFail()
    const { values } = await target.get(`/threads/${imported._id}/state`)
    expect(values.messages.map(({ data }: any) => data.content)).toEqual(birds)
  })

  it('of several objects is found, exported, counted and brought back whole', async () => {
    const user = await insertUser(service)
    const id = await threadWithRun(service, user)
    const before = await contentsOf(service, user, id)
    const lines = async () => {
      const bytes = gunzipSync(await archiveOf(service, user))
      return ['messages', 'runs', 'tool-calls'].map((name) => linesIn(bytes, name))
    }
    const exported = await lines()
    const { sweep } = archiving(service, { limits: { bytes: 1_000_000, texts: 2 } })
    expect(await sweep.archive(await recordOf(service, id))).toBe(true)
    expect(await placesOf(service, id)).toEqual({ emptied: 5, objects: 3, isNamed: true })
    expect(await lines()).toEqual(exported)
    expect(JSON.stringify(exported)).toContain('an egret')
    for (const bird of birds)
      expect((await user.get(`/search/messages?q=${bird}`)).found).toMatchObject([{ snippet: bird }])
    expect(await placesOf(service, id)).toEqual({ emptied: 5, objects: 3, isNamed: true })
    expect(await contentsOf(service, user, id)).toBe(before)
    expect(await placesOf(service, id)).toEqual(inEntries)
    // Texts that are too large for an object together.
    const small = archiving(service, { limits: { bytes: 1, texts: 100 } })
    expect(await small.sweep.archive(await recordOf(service, id))).toBe(true)
    expect(await placesOf(service, id)).toEqual({ emptied: 5, objects: 5, isNamed: true })
    expect(await contentsOf(service, user, id)).toBe(before)
  })

  it('leaves nothing that was said in the database but words for the search', async () => {
    const talk = await conversation(service, { 'type==agent/tools': [{ type: 'http_request' }] })
    const target = await startHttpServer((_request, response) => void response.end('a secret nest'))
    onTestFinished(() => target.close())
    const url = `${target.url}/secret-nest`
    service.model.reply({
      text: 'A secret answer',
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url } }],
    })
    await talk.stream('A secret question')
    const { db } = service.api.infra.database.connection
    const said = async () => {
      const found: string[] = []
      for (const { name } of (await db?.listCollections().toArray()) ?? []) {
        const records = await db?.collection(name).find({ thread_id: talk.threadId }).toArray()
        if (/secret[ -](?:question|answer|nest)/i.test(JSON.stringify(records))) found.push(name)
      }
      return found.toSorted()
    }
    expect(await said()).toEqual(['checkpoints', 'runs', 'tool_calls'])
    await archive(service, talk.threadId)
    expect(await said()).toEqual([])
    expect(JSON.stringify(await talk.messages())).toMatch(/secret nest.*\d messages, the first A secret question/)
    await settled(service)
    expect(await said()).toEqual(['checkpoints', 'runs', 'tool_calls'])
  })

  it('is deleted with its object, which the receipt counts', async () => {
    const { user, id } = await archived()
    await user.delete(`/threads/${id}`)
    await expect
      .poll(() => service.collections.receipts.findOne({ user_id: user.userId, status: 'complete' }).lean(), {
        timeout: 30_000,
      })
      .toMatchObject({ found: { thread_archives: 1 }, left: { thread_archives: 0 } })
    expect(await service.api.infra.knowledge.blobs.countOf(archiveOwnerOf(id))).toBe(0)
  })

  it('whose message is deleted has no object left, not even of an attempt that failed', async () => {
    const { user, id } = await archived()
    const { blobs } = service.api.infra.knowledge
    await blobs.write(blobs.newBlobId(), archiveOwnerOf(id), Readable.from([Buffer.from('left')]))
    const [message] = (await user.get(`/threads/${id}/state`)).values.messages
    await user.delete(`/v1/threads/${id}/messages/${message.data.id}`)
    expect(await blobs.countOf(archiveOwnerOf(id))).toBe(0)
    expect(await valuesOf(user, id)).not.toContain(birds[0])
  })

  it('stays archived when somebody else names one of its items', async () => {
    const [owner, stranger] = [await insertUser(service), await insertUser(service)]
    const items = [{ role: 'user', content: 'egret' }]
    const { id } = await owner.post('/v1/conversations', { items })
    const { data } = await owner.get(`/v1/conversations/${id}/items`)
    const threadId = String(id).replace('conv_', '')
    await archive(service, threadId)
    const input = [{ type: 'item_reference', id: data[0].id }]
    const asked = await stranger.call('POST', '/v1/conversations', { items: input })
    expect([asked.status, asked.text]).toEqual([400, expect.stringContaining('there is no item')])
    expect(await placesOf(service, threadId)).toEqual({ emptied: 1, objects: 1, isNamed: true })
    await owner.post('/v1/conversations', { items: input })
    expect(await placesOf(service, threadId)).toEqual(inEntries)
  })

  it('gives a repeated request the message that the first one added', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    const { threads } = service.api.services.v1
    const entryId = newId()
    const caller = { userId: user.userId, projectId: user.projectId }
    await service.api.platform.core.log.append(id, {
      id: entryId,
      messages: [{ type: 'HumanMessage', data: { id: newId(), content: 'egret' } }],
      source: 'update',
    })
    await archive(service, id)
    expect(await threads.addedMessage(caller, id, entryId)).toMatchObject({ message: { data: { content: 'egret' } } })
  })

  it('shows its runs, shares and conversations as before', async () => {
    const talk = await conversation(service)
    const { runId } = await talk.stream('albatross')
    const { client, threadId } = talk
    const { token } = await client.post(`/threads/${threadId}/share`)
    const ways = {
      state: `/threads/${threadId}/state`,
      history: `/threads/${threadId}/history`,
      run: `/runs/${runId}`,
      runs: `/threads/${threadId}/runs`,
      share: `/shared/${token}`,
      messages: `/v1/threads/${threadId}/messages`,
      steps: `/v1/threads/${threadId}/runs/${runId}/steps`,
    }
    for (const [name, path] of Object.entries(ways)) {
      const before = await client.call('GET', path)
      expect(before.status, name).toBe(200)
      await archive(service, threadId)
      expect(await client.call('GET', path), name).toMatchObject({ status: 200, body: before.body })
      await archiving(service).threads.bringBack(threadId)
    }
  })
})

describe('the sweep', () => {
  it('archives what nobody has changed or opened, and looks at nothing twice', async () => {
    const user = await insertUser(service)
    const { sweep, threads } = archiving(service, { archiveAfterDays: 30 })
    const [old, opened, changed, empty] = [
      await threadOf(user),
      await threadOf(user),
      await threadOf(user),
      (await user.post('/threads/', { name: 'empty' })).thread_id,
    ]
    const long = new Date(Date.now() - 40 * dayMs)
    const { collections } = service
    await collections.threads.updateMany(
      { _id: { $in: [old, opened, changed, empty] } },
      { $set: { updated_at: long, opened_at: long } },
    )
    await threads.noteOpened(await recordOf(service, opened))
    await collections.threads.updateOne({ _id: changed }, { $set: { updated_at: new Date() } })
    const before = new Date(Date.now() - 30 * dayMs)
    await sweep.round(before)
    for (const id of [opened, changed]) expect(await placesOf(service, id)).toEqual(inEntries)
    expect(await placesOf(service, old)).toEqual(archivedPlaces)
    const due = { 'archive.at': null, opened_at: { $lt: before }, _id: { $in: [old, opened, changed, empty] } }
    expect(await collections.threads.countDocuments(due)).toBe(0)
  })

  it('dates threads that it has not seen by their last change', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    expect((await recordOf(service, id)).opened_at).toBeUndefined()
    await archiving(service).sweep.round(new Date(0))
    const { updated_at: changed, opened_at: opened } = await recordOf(service, id)
    expect(opened).toEqual(changed)
  })

  it('leaves a thread whose run has ended and is not settled: what settles it reads its texts', async () => {
    const user = await insertUser(service)
    const id = await threadWithRun(service, user)
    const { sweep } = archiving(service)
    const { runs } = service.collections
    await runs.updateOne({ thread_id: id }, { $set: { check_at: new Date(Date.now() + 3600_000) } })
    expect(await sweep.archive(await recordOf(service, id))).toBe(false)
    await runs.updateOne({ thread_id: id }, { $unset: { check_at: 1 } })
    expect(await sweep.archive(await recordOf(service, id))).toBe(true)
  })

  it('leaves a thread with an open run, or that was changed in the meantime', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    const { sweep } = archiving(service)
    const record = await recordOf(service, id)
    await user.post(`/threads/${id}/state`, { values: [{ type: 'human', content: 'dunlin' }] })
    expect(await sweep.archive(record)).toBe(false)
    expect(await placesOf(service, id)).toEqual(inEntries)
  })

  it('loses nothing when threads are archived, read, and written at once', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    const [one, two] = [archiving(service).sweep, archiving(service).sweep]
    for (let turn = 0; turn < 4; turn++) {
      const record = await recordOf(service, id)
      await Promise.all([
        one.archive(record).catch(() => false),
        two.archive(record).catch(() => false),
        valuesOf(user, id),
        user.post(`/threads/${id}/state`, { values: [{ type: 'human', content: `turn ${turn}` }] }),
      ])
    }
    const read = await valuesOf(user, id)
    for (const content of [...birds, 'turn 0', 'turn 1', 'turn 2', 'turn 3']) expect(read).toContain(content)
    expect(await placesOf(service, id)).toMatchObject({ emptied: 0, isNamed: false })
  })

  it('refuses a store that gives back other bytes than it was given', async () => {
    const user = await insertUser(service)
    const id = await threadOf(user)
    const { sweep } = archiving(service, { blobs: { read: () => Readable.from([Buffer.from('cut')]) } })
    await expect(sweep.archive(await recordOf(service, id))).rejects.toThrow('not stored as it was sent')
    expect(await placesOf(service, id)).toMatchObject({ emptied: 0, isNamed: false })
  })
})

describe('an object', () => {
  it('that is missing is said, and loses nothing: with the object, the thread opens', async () => {
    const { user, id, before } = await archived()
    const { threads } = archiving(service, { blobs: { read: () => Readable.from([Buffer.from('cut')]) } })
    await expect(threads.bringBack(id)).rejects.toThrow('missing or damaged')
    const { db } = service.api.infra.database.connection
    const blob = (await db?.collection('blobs.files').findOne({ 'metadata.assistant_id': archiveOwnerOf(id) })) ?? {
      _id: '',
    }
    const pieces = db?.collection('blobs.chunks')
    const piece = await pieces?.findOneAndDelete({ files_id: blob._id })
    expect((await user.call('GET', `/threads/${id}/state`)).status).toBe(500)
    const { thread_id: other } = await user.post('/threads/', { name: 'another' })
    await user.post(`/threads/${other}/state`, { values: [{ type: 'human', content: 'a cormorant' }] })
    expect((await user.get('/search/messages?q=cormorant')).found).toMatchObject([{ thread: { thread_id: other } }])
    expect(await placesOf(service, id)).toEqual(archivedPlaces)
    if (piece) await pieces?.insertOne(piece)
    expect(await valuesOf(user, id)).toBe(before)
  })

  it('opens only for its thread, whole, and with a known key', async () => {
    const [old, current] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const place = { threadId: 'one', blobId: 'blob' }
    const object = await packTexts(createSecretBox(old), place, [['id', '[]']])
    expect(await unpackTexts(createSecretBox(current, [old]), place, object)).toEqual([['id', '[]']])
    const box = createSecretBox(old)
    await expect(unpackTexts(createSecretBox(current), place, object)).rejects.toThrow('unknown key')
    await expect(unpackTexts(box, { ...place, threadId: 'two' }, object)).rejects.toThrow()
    for (const end of [-1, 30, 12, 5, 0])
      await expect(unpackTexts(box, place, object.subarray(0, end))).rejects.toThrow()
  })

  it('is decompressed up to a limit', async () => {
    const box = createSecretBox(Buffer.alloc(32, 1))
    const bomb = gzipSync(Buffer.alloc(130 * 1024 * 1024))
    const object = box.sealBytes(bomb, 'thread-archive/one/blob')
    await expect(unpackTexts(box, { threadId: 'one', blobId: 'blob' }, object)).rejects.toThrow(/larger than/)
  })

  it('is sealed again under a new key, and kept by the sweep of orphans', async () => {
    const { user, id, before } = await archived()
    const { deps, threads } = archiving(service)
    const earlier = service.settings.secretsKey
    const failed: string[] = []
    const maintenance = (key: Uint8Array, previous: Uint8Array[]) =>
      createArchiveMaintenance({
        ...deps,
        secretBox: createSecretBox(key, previous),
        archivedThreads: threads,
        onFailure: (threadId) => failed.push(threadId),
      })
    const key = Buffer.alloc(32, 7)
    expect(await maintenance(key, [earlier]).reseal()).toBeGreaterThan(0)
    expect(await maintenance(key, []).reseal()).toBe(0)
    await expect(threads.bringBack(id)).rejects.toThrow('missing or damaged')
    expect(await placesOf(service, id)).toEqual(archivedPlaces)
    await maintenance(earlier, [key]).reseal()
    expect(failed).toEqual([])
    expect(await maintenance(earlier, []).openAll()).toBeGreaterThan(0)
    expect(await placesOf(service, id)).toEqual(inEntries)
    expect(await valuesOf(user, id)).toBe(before)
  })
})
