import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { conversation } from '../runs/support.ts'
import { archiveOf, importInto, lines, linesIn, manifest, member } from '../support/archives.ts'
import { useSharedService } from '../support/shared-service.ts'
import { allEvents } from '../support/sse.ts'
import { tarEnd } from '../support/tar.ts'
import { type TestUser, insertUser } from '../support/users.ts'

/** The smallest PNG. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const page = '<script>alert(1)</script>'
const fileName = 'a "page"\r\nfrom Zoë.html'

describe('images, sounds and files of messages', () => {
  const service = useSharedService({ respond: () => ({ text: 'Seen.' }) })

  async function asked() {
    const talk = await conversation(service)
    const content = [
      { type: 'text', text: 'Look: ' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png.toString('base64')}`, detail: 'low' } },
      { type: 'file', file: { file_data: Buffer.from(page).toString('base64'), filename: fileName } },
    ]
    const { end } = await talk.stream('', { input: [{ type: 'human', content }] })
    expect(end).toBe('end')
    const [question] = await talk.messages()
    const [, image, file] = question.data.parts
    return { ...talk, image: String(image.attachment_id), file: String(file.attachment_id) }
  }
  it('of a run that is refused, because its thread is busy, are removed', async () => {
    const talk = await conversation(service)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: [gate.promise, 'Only one'] })
    const open = await talk.start('Wait')
    const url = `data:image/png;base64,${png.toString('base64')}`
    const input = [{ type: 'human', content: [{ type: 'image_url', image_url: { url } }] }]
    await talk.client.post('/runs/', talk.payload('', { input, multitask_strategy: 'reject' }), 409)
    expect(await service.collections.attachments.countDocuments({ thread_id: talk.threadId })).toBe(0)
    gate.resolve()
    expect((await talk.join(open.run_id)).end).toBe('end')
  })

  const bytesOf = (user: TestUser, threadId: string, id: string) =>
    user.fetch('GET', `/threads/${threadId}/attachments/${id}/content`)

  it('can be read by the owner of the thread, as what they are, and never as a page', async () => {
    const { client, threadId, image, file } = await asked()
    const shown = await bytesOf(client, threadId, image)
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
    expect(Object.fromEntries(shown.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(png.length),
      'content-disposition': 'attachment',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    })
    const text = await bytesOf(client, threadId, file)
    expect(await text.text()).toBe(page)
    expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(text.headers.get('content-disposition')).toBe(
      `attachment; filename*=UTF-8''a%20%22page%22%0D%0Afrom%20Zo%C3%AB.html`,
    )
  })

  it('are missing for anybody else, and under another thread', async () => {
    const { client, threadId, image } = await asked()
    const other = await insertUser(service)
    const { thread_id: second } = await client.post('/threads/', { name: 'Another' })
    const statuses = await Promise.all(
      [
        bytesOf(other, threadId, image),
        bytesOf(client, second, image),
        bytesOf(client, threadId, newId()),
        bytesOf(client, threadId, '%00'),
      ].map(async (answer) => (await answer).status),
    )
    expect(statuses).toEqual([404, 404, 404, 422])
  })

  it('come with an archive into another account, whose model sees them', async () => {
    const { client, threadId } = await asked()
    const archive = await archiveOf(service, client)
    const target = await insertUser(service)
    const { body: report } = await importInto(service, target, archive)
    expect(report).toMatchObject({ imported: { attachments: 2 }, refused: { attachments: 0 }, problems: [] })
    const again = await importInto(service, target, archive)
    expect(again.body).toMatchObject({ existing: { attachments: 2 }, imported: { attachments: 0 }, problems: [] })

    const { _id: copied = '', project_id: projectId } =
      (await service.collections.threads.findOne({ user_id: target.userId, name: 'Talk' }).lean()) ?? {}
    expect(copied).not.toBe(threadId)
    const [question] = (await target.get(`/threads/${copied}/state`)).values.messages
    const [, image, file] = question.data.parts
    expect(image).toMatchObject({ type: 'image', content_type: 'image/png', size: png.length, detail: 'low' })
    const shown = await bytesOf(target, copied, image.attachment_id)
    expect(Buffer.from(await shown.arrayBuffer())).toEqual(png)
    expect(await (await bytesOf(target, copied, file.attachment_id)).text()).toBe(page)
    const run = await service.collections.runs.findOne({ thread_id: copied }).lean()
    expect(run?.input_json).toContain(image.attachment_id)

    const assistant = await service.collections.assistants.findOne({ project_id: projectId, name: 'Helper' }).lean()
    const before = service.model.requests.length
    const input = [{ type: 'human', content: 'And now?' }]
    await allEvents(
      await target.fetch('POST', '/runs/stream', { thread_id: copied, assistant_id: assistant?._id, input }),
    )
    expect(service.model.requests.slice(before).at(-1)?.body.messages[0]?.content).toContainEqual({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${png.toString('base64')}`, detail: 'low' },
    })
    const { receipt_id: receipt } = (await target.call('DELETE', `/threads/${copied}`)).body
    expect(await target.get(`/receipts/${receipt}`)).toMatchObject({
      found: { attachments: 2 },
      left: { attachments: 0 },
    })
  })

  it('of an archive are refused when their bytes are missing or others', async () => {
    const { client, image } = await asked()
    const tar = gunzipSync(await archiveOf(service, client))
    const kinds = ['projects', 'assistants', 'threads', 'messages'].map((kind) =>
      member(`${kind}-00001.jsonl`, lines(...linesIn(tar, kind))),
    )
    const record = linesIn(tar, 'attachments').find(({ attachment_id: id }) => id === image)
    const named = (name: string, more: object = {}) => ({
      ...record,
      attachment_id: name,
      path: `attachments/${name}`,
      ...more,
    })
    const records = [
      named('none'),
      named('longer', { size: 3 }),
      named('shorter', { size: 4000 }),
      named('unknown', { size: 4 }),
      named('stray', { thread_id: 'no-such-thread' }),
      named('of-a-schedule', { thread_id: undefined, schedule_id: 'one' }),
      named('good', { content_type: 'text/html' }),
    ]
    const whole = gzipSync(
      Buffer.concat([
        manifest,
        ...kinds,
        member('attachments-00001.jsonl', lines(...records)),
        member('attachments/longer', png),
        member('attachments/shorter', png),
        member('attachments/unknown', Buffer.from([0, 1, 2, 3])),
        member('attachments/stray', png),
        member('attachments/of-a-schedule', png),
        member('attachments/good', png),
        tarEnd,
      ]),
    )
    const target = await insertUser(service)
    const { status, body } = await importInto(service, target, whole)
    expect([status, body.imported.attachments, body.refused.attachments]).toEqual([200, 2, 4])
    expect(body.problems.map(({ id, reason }: { id: string; reason: string }) => [id, reason])).toEqual([
      ['longer', 'its bytes are not as many as its record says'],
      ['shorter', 'its bytes are not as many as its record says'],
      ['stray', 'its thread was not imported'],
      ['none', 'the archive does not hold its bytes'],
    ])
    const kept = await service.collections.attachments
      .find({ user_id: target.userId }, { bytes: 0 })
      .sort({ size: 1 })
      .lean()
    expect(kept).toMatchObject([
      { content_type: 'application/octet-stream', size: 4 },
      { content_type: 'image/png', size: png.length },
    ])

    const tooLarge = member('attachments-00001.jsonl', lines(named('huge', { size: 9_000_000 })))
    const answer = await importInto(service, target, gzipSync(Buffer.concat([manifest, ...kinds, tooLarge, tarEnd])))
    expect(answer.status).toBe(422)
  })
})
