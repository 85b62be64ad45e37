import { describe, expect, it } from 'vitest'
import { threadLimits } from '../../domain/records/thread.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { useSharedService } from '../support/shared-service.ts'
import { insertUser } from '../support/users.ts'

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaGD4z8DAwMDAxAADMAEABh4BAU/4oAAAAAAASUVORK5CYII='
const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }

describe('threads beside another', () => {
  const service = useSharedService()

  async function answered() {
    const talk = await conversation(service)
    service.model.reply({ text: 'The first answer.' })
    const content = [{ type: 'text', text: 'Look at this' }, picture]
    expect((await talk.stream('', { input: [{ type: 'human', content }] })).end).toBe('end')
    const before = (await talk.messages()).at(-1)
    const beside = async (after: string | null = before.data.id) =>
      talk.client.post(`/threads/${talk.threadId}/sides`, { after })
    const ask = (threadId: string, more: object = {}) =>
      talk.client.post('/runs/', talk.payload('And now?', { thread_id: threadId, ...more }))
    return { ...talk, before, beside, ask }
  }
  type Talk = Awaited<ReturnType<typeof answered>>

  const all = async ({ client, threadId }: Talk) =>
    (await client.get(`/threads/${threadId}/state?versions=all`)).values.messages
  const over = ({ client }: Talk, runId: string) =>
    eventually('the end of the run', async () => (await client.get(`/runs/${runId}`)).status === 'success')

  it('answer while the thread answers, know what was said, and give their answer back as a version', async () => {
    const talk = await answered()
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: [gate.promise, 'Of the thread.'] })
    const open = await talk.start('And now?')
    const side = await talk.beside()
    service.model.reply({ text: 'Of the side.' })
    const looking = [{ type: 'text', text: 'And now?' }, picture]
    const beside = await talk.ask(side.thread_id, { input: [{ type: 'human', content: looking }] })
    await over(talk, beside.run_id)
    // The side's model was shown the picture and the first answer.
    expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).toContain(png.slice(0, 60))
    expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).toContain('The first answer.')
    gate.resolve()
    expect((await talk.join(open.run_id)).end).toBe('end')

    const take = `/threads/${talk.threadId}/sides/${side.thread_id}/take`
    await Promise.all([1, 2].map(() => talk.client.post(take, { after: talk.before.data.id })))
    await talk.client.post(take, { after: talk.before.data.id })
    const messages = await all(talk)
    expect(messages.map(({ data }: { data: { content: string } }) => data.content)).toEqual([
      'Look at this',
      'The first answer.',
      'And now?',
      'Of the thread.',
      'And now?',
      'Of the side.',
    ])
    expect(messages[4].data).toMatchObject({ id: `${beside.run_id}-question`, after: talk.before.data.id })
    // The picture of the question is the thread's own now.
    const taken = messages[4].data.parts.find(({ type }: { type: string }) => type === 'image')
    const shown = await talk.client.fetch('GET', `/threads/${talk.threadId}/attachments/${taken.attachment_id}/content`)
    expect(Buffer.from(await shown.arrayBuffer()).toString('base64')).toBe(png)
    // What it cost is still known, and a question after the other answer goes on with that one.
    expect(await talk.client.get(`/runs/${beside.run_id}`)).toMatchObject({ status: 'success' })
    service.model.reply({ text: 'Third.' })
    const input = [{ type: 'HumanMessage', data: { content: 'More', after: messages[3].data.id } }]
    await talk.stream('', { input })
    expect((await talk.messages()).map(({ data }: { data: { content: string } }) => data.content)).toEqual([
      'Look at this',
      'The first answer.',
      'And now?',
      'Of the thread.',
      'More',
      'Third.',
    ])
  })

  it('are in no list, count against no quota, and go with the thread', async () => {
    const talk = await answered()
    const count = async () => (await service.collections.users.findById(talk.client.userId))?.thread_counter
    const before = await count()
    const side = await talk.beside()
    const first = await talk.beside(null)
    expect(await count()).toBe(before)
    const { threads } = await talk.client.get('/threads/')
    expect(JSON.stringify(threads)).not.toContain(side.thread_id)
    expect((await talk.client.get(`/threads/${first.thread_id}/state`)).values.messages).toEqual([])
    await talk.client.call('DELETE', `/threads/${talk.threadId}`)
    const { threads: stored, checkpoints, attachments } = service.collections
    const of = { thread_id: side.thread_id }
    await eventually(
      'the end of the sides',
      async () => (await stored.countDocuments({ asked_from: talk.threadId })) === 0,
    )
    expect(await checkpoints.countDocuments(of)).toBe(0)
    expect(await attachments.countDocuments(of)).toBe(0)
  })

  it('are refused beyond the limits, of others, of a message that is not there, and of each other', async () => {
    const talk = await answered()
    const path = `/threads/${talk.threadId}/sides`
    const side = await talk.beside()
    expect((await talk.client.call('POST', path, { after: 'unknown' })).status).toBe(409)
    expect((await talk.client.call('POST', `/threads/${side.thread_id}/sides`, { after: null })).status).toBe(403)
    const take = `${path}/${side.thread_id}/take`
    expect((await talk.client.call('POST', take, { after: null })).status).toBe(409)
    const { thread_id: other } = await talk.client.post('/threads/', { name: 'Other' })
    expect((await talk.client.call('POST', `${path}/${other}/take`, { after: null })).status).toBe(404)
    expect(
      (await talk.client.call('POST', `/threads/${other}/sides/${side.thread_id}/take`, { after: null })).status,
    ).toBe(404)
    const stranger = await insertUser(service)
    expect((await stranger.call('POST', take, { after: null })).status).toBe(404)
    const gate = Promise.withResolvers<void>()
    service.model.reply({ text: [gate.promise, 'Late.'] })
    const run = await talk.ask(side.thread_id)
    expect((await talk.client.call('POST', take, { after: null })).status).toBe(409)
    gate.resolve()
    await over(talk, run.run_id)
    await service.collections.threads.updateOne({ _id: talk.threadId }, { $set: { sides: threadLimits.sides } })
    expect((await talk.client.call('POST', path, { after: null })).status).toBe(403)
  })
})
