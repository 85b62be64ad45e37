import { describe, expect, it } from 'vitest'
import { messagesToJson } from '../../domain/messages.ts'
import { threadMaxBytes } from '../../services/threads/log.ts'
import { conversation } from '../runs/support.ts'
import { useSharedService } from '../support/shared-service.ts'

describe('a thread', () => {
  const service = useSharedService()
  const used = async (threadId: string) => (await service.collections.threads.findById(threadId).lean())?.log_bytes
  const fill = (threadId: string, bytes: number) =>
    service.collections.threads.updateOne({ _id: threadId }, { $set: { log_bytes: bytes } })

  it('counts the bytes of its messages, and a repeated entry once', async () => {
    const { client, threadId } = await conversation(service)
    const state = await client.post(`/threads/${threadId}/state`, { values: [{ type: 'human', content: 'grüß dich' }] })
    const bytes = Buffer.byteLength(messagesToJson(state.values.messages))
    expect(await used(threadId)).toBe(bytes)
    const { log } = service.api.platform.core
    const entry = { messages: state.values.messages, source: 'step' as const, runId: `run-of-${threadId}`, step: 1 }
    await log.append(threadId, entry)
    await log.append(threadId, entry)
    expect(await used(threadId)).toBe(2 * bytes)
  })

  it('that is full refuses messages and runs with thread_full', async () => {
    const { client, threadId, payload } = await conversation(service)
    await fill(threadId, threadMaxBytes - 100)
    const small = { values: [{ type: 'human', content: 'x', id: 'm' }] }
    expect((await client.call('POST', `/threads/${threadId}/state`, small)).status).toBe(200)
    const before = await used(threadId)
    const answers = [
      await client.call('POST', `/threads/${threadId}/state`, small),
      await client.call('POST', '/runs/', payload('x')),
      await client.call('POST', '/runs/stream', payload('x')),
    ]
    for (const { status, body } of answers) {
      expect(status).toBe(422)
      expect(body.detail[0]).toMatchObject({ type: 'thread_full', msg: expect.stringContaining('64 MB') })
    }
    expect(await used(threadId)).toBe(before)
    expect((await client.get(`/threads/${threadId}/history`)).length).toBe(1)
    expect((await client.get(`/threads/${threadId}/runs`)).runs).toEqual([])
  })

  it('without room for an answer stays usable', async () => {
    const { client, threadId, stream } = await conversation(service)
    service.model.reply({ text: ['x'.repeat(500)] })
    await fill(threadId, threadMaxBytes - 300)
    const run = await stream('Hi')
    expect(run).toMatchObject({ end: 'error', error: { status_code: 422, type: 'invalid_input' } })
    expect(run.error.message).toContain('64 MB')
    expect(await client.get(`/threads/${threadId}`)).toMatchObject({ status: 'error' })
    const { values } = await client.get(`/threads/${threadId}/state`)
    expect(values.messages.map((message: { type: string }) => message.type)).toEqual(['HumanMessage', 'AIMessage'])
    expect(values.messages[1].data).toMatchObject({ incomplete: true })
  })
})
