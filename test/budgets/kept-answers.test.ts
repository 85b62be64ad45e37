import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { importInto, lines, member, whole } from '../support/archives.ts'
import { startMcpServer } from '../support/mcp-server.ts'
import { useModelService } from '../support/model-service.ts'
import { useSharedService } from '../support/shared-service.ts'
import { refusalOf, v1Client } from '../v1/v1-client.ts'

const kilobyte = 1024
const long = 'x'.repeat(400 * kilobyte)
const picture = Buffer.concat([
  Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'),
  Buffer.alloc(700 * kilobyte),
])

describe('answers that are kept without a place of the thread quota', () => {
  const service = useSharedService({ respond: () => ({ text: 'Noted.' }) })
  const limitTo = (userId: string, megabytes: number) =>
    service.collections.users.updateOne({ _id: userId }, { $set: { storage_max_mb: megabytes } })

  it('count in the storage quota: stored completions and responses', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 1)
    const model = 'test-model'
    const kept = () =>
      client.chat.completions.create({ model, store: true, messages: [{ role: 'user', content: long }] })
    await kept()
    await client.responses.create({ model, input: long })
    expect((await refusalOf(kept())).status).toBe(413)
    expect((await refusalOf(client.responses.create({ model, input: long }))).status).toBe(413)
    // What is not kept needs no room.
    const passing = await client.chat.completions.create({ model, messages: [{ role: 'user', content: long }] })
    expect(passing.choices[0]?.message.content).toBe('Noted.')
    const { storage_bytes: bytes } = await owner.get('/user/usage')
    expect(bytes).toBeGreaterThan(2 * long.length)
    expect(bytes).toBeLessThan(2.2 * long.length)
  })

  it('count images of messages, too', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 1)
    const input = [
      {
        role: 'user' as const,
        content: [
          {
            type: 'input_image' as const,
            detail: 'auto' as const,
            image_url: `data:image/gif;base64,${picture.toString('base64')}`,
          },
        ],
      },
    ]
    await client.responses.create({ model: 'test-model', input })
    expect((await refusalOf(client.responses.create({ model: 'test-model', input }))).status).toBe(413)
    expect((await owner.get('/user/usage')).storage_bytes).toBeGreaterThan(picture.length)
  })

  it('of public callers are refused without a word about the account', async () => {
    const { owner, token } = await newPublicAssistant(service)
    const { user_id: userId } = await owner.get('/user/')
    await limitTo(String(userId), 0)
    const question = { model: 'any', messages: [{ role: 'user', content: 'Hi' }] }
    const refused = await apiClient(service.url, token).call('POST', '/public/v1/chat/completions', question)
    expect(refused.status).toBe(413)
    expect(refused.body.detail).toBe('This assistant can store nothing more at the moment.')
  })
})

describe('images that come without a run need room in the storage quota', () => {
  const service = useSharedService({ respond: () => ({ text: 'Noted.' }) })
  const limitTo = (userId: string, megabytes: number) =>
    service.collections.users.updateOne({ _id: userId }, { $set: { storage_max_mb: megabytes } })
  const image_url = `data:image/gif;base64,${picture.toString('base64')}`
  const storedOf = async (userId: string) => service.collections.attachments.countDocuments({ user_id: userId })

  it('as items of a conversation', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 1)
    const content = [{ type: 'input_image' as const, detail: 'auto' as const, image_url }]
    const items = [{ type: 'message' as const, role: 'user' as const, content }]
    const { id } = await client.conversations.create({ items })
    expect((await refusalOf(client.conversations.items.create(id, { items }))).status).toBe(413)
    expect((await refusalOf(client.conversations.create({ items }))).status).toBe(413)
    expect(await storedOf(owner.userId)).toBe(1)
    expect((await client.conversations.items.list(id)).data).toHaveLength(1)
  })

  it('as messages of a thread of the assistants interface', async () => {
    const { client, owner } = await v1Client(service)
    await limitTo(owner.userId, 2)
    const file = await client.files.create({ file: new File([picture], 'a.gif'), purpose: 'vision' })
    const content = [{ type: 'image_file' as const, image_file: { file_id: file.id } }]
    const { id } = await client.beta.threads.create({ messages: [{ role: 'user', content }] })
    expect((await refusalOf(client.beta.threads.messages.create(id, { role: 'user', content }))).status).toBe(413)
    expect(await storedOf(owner.userId)).toBe(1)
    expect((await client.beta.threads.messages.list(id)).data).toHaveLength(1)
  })

  it('as copies for another answer beside the first', async () => {
    const talk = await conversation(service)
    await limitTo(talk.client.userId, 1)
    const content = [{ type: 'image_url', image_url: { url: image_url } }]
    expect((await talk.stream('', { input: [{ type: 'human', content }] })).end).toBe('end')
    const after = (await talk.messages()).at(-1)?.data.id
    const beside = await talk.client.call('POST', `/threads/${talk.threadId}/sides`, { after })
    expect(beside.status).toBe(413)
    expect(await storedOf(talk.client.userId)).toBe(1)
    expect(await service.collections.threads.countDocuments({ asked_from: talk.threadId })).toBe(0)
  })

  it('as parts of messages in an archive', async () => {
    const talk = await conversation(service)
    await limitTo(talk.client.userId, 1)
    const created_at = '2026-01-01T00:00:00.000Z'
    const thread = { thread_id: newId(), project_id: 'p', name: 'T', public: false, metadata: {}, created_at }
    const attachments = ['a', 'b'].map((name) => ({
      attachment_id: name,
      thread_id: thread.thread_id,
      name,
      size: picture.length,
      path: `attachments/${name}`,
      created_at,
    }))
    const archive = whole(
      member('projects-00001.jsonl', lines({ project_id: 'p', name: 'P', description: '', created_at })),
      member('threads-00001.jsonl', lines({ ...thread, updated_at: created_at })),
      member('attachments-00001.jsonl', lines(...attachments)),
      ...attachments.map(({ path }) => member(path, picture)),
    )
    const { body } = await importInto(service, talk.client, new Uint8Array(archive))
    expect([body.imported.threads, body.imported.attachments, body.refused.attachments]).toEqual([1, 1, 1])
    expect(body.problems).toMatchObject([{ kind: 'attachments', reason: expect.stringContaining('1 MB') }])
  })
})

describe('pictures in results of tools', () => {
  const service = useModelService({ env: { OUTBOUND_ALLOW: '127.0.0.1' } })
  let mcp: Awaited<ReturnType<typeof startMcpServer>>
  beforeAll(async () => {
    mcp = await startMcpServer({
      register: (server) =>
        void server.registerTool('draw', {}, () => ({
          content: [{ type: 'image', data: picture.toString('base64'), mimeType: 'image/gif' }],
        })),
    })
  })
  afterAll(() => mcp.close())

  it('are left out when there is no room for them, and the run goes on', async () => {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'mcp', config: { name: 'm', url: mcp.url } }],
    })
    const { userId } = talk.client
    await service.collections.users.updateOne({ _id: userId }, { $set: { storage_max_mb: 1 } })
    service.model.reply({ toolCalls: [1, 2].map(() => ({ name: 'm_draw', arguments: {} })) })
    service.model.reply({ text: 'Drawn.' })
    expect((await talk.stream('Draw')).end).toBe('end')
    const results = (await talk.messages()).filter(({ type }) => type === 'ToolMessage')
    expect(results.map(({ data: { content, failed } }) => [content, failed])).toEqual([
      ['[image/gif]', undefined],
      ['[image/gif]', undefined],
    ])
    expect(results.flatMap(({ data: { parts = [] } }) => parts)).toHaveLength(1)
    expect(await service.collections.attachments.countDocuments({ user_id: userId })).toBe(1)
  })
})
