import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { type ApiClient, apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { everythingIn } from '../support/everything-in.ts'
import { useModelService } from '../support/model-service.ts'
import { insertUser } from '../support/users.ts'

const day = 86_400_000
const completions = '/public/compat/v1/chat/completions'
const limit = { timeout: 30_000 }

describe('retention', () => {
  const service = useModelService({
    respond: () => ({ text: ['well'] }),
    env: {
      RETAIN_PUBLIC_THREADS_DAYS: '30',
      RETAIN_PENDING_ACCOUNTS_DAYS: '7',
      RETAIN_WAITING_RUNS_DAYS: '14',
      RUN_STREAM_HOURS: '2',
    },
  })
  const round = (afterMs = 0) => service.api.platform.retention(() => Date.now() + afterMs)
  const question = { model: 'any', messages: [{ role: 'user', content: 'hi' }] }

  async function publish() {
    const { id, owner, token } = await newPublicAssistant(service)
    const { user_id: userId } = await owner.get('/user/')
    return { id, owner, userId: String(userId), visitor: apiClient(service.url, token) }
  }
  const threadsOf = (userId: string) => service.collections.threads.countDocuments({ user_id: userId })
  const receiptsOf = (userId: string) =>
    service.collections.receipts.find({ user_id: userId, status: 'complete' }).lean()

  it('deletes unused threads of public callers, with receipts, and nothing else', async () => {
    const { owner, userId, visitor } = await publish()
    await owner.post('/threads/', {})
    await visitor.post(completions, question)
    const bystander = await publish()
    await bystander.visitor.post(completions, question)
    await service.collections.threads.updateMany(
      { user_id: bystander.userId },
      { $set: { updated_at: new Date(Date.now() + 10 * day) } },
      { timestamps: false },
    )
    await round(29 * day)
    expect(await threadsOf(userId)).toBe(2)
    await round(31 * day)
    await expect.poll(() => threadsOf(userId), limit).toBe(1)
    expect(await service.collections.threads.exists({ user_id: userId, public: false })).not.toBeNull()
    expect(await service.collections.runs.countDocuments({ user_id: userId })).toBe(0)
    expect(await receiptsOf(userId)).toMatchObject([{ kind: 'thread', found: { runs: 1 } }])
    expect(await service.collections.runs.countDocuments({ user_id: bystander.userId })).toBe(1)
  })

  describe('a completion with store: false', () => {
    /** Everything that the stores of the service say. */
    async function stored(): Promise<string> {
      const texts: string[] = []
      for (const collection of (await service.api.infra.database.connection.db?.collections()) ?? [])
        for await (const record of collection.find({})) texts.push(everythingIn(record))
      return texts.join('\n')
    }

    const leave = async (visitor: ApiClient, body: object) => {
      const gate = Promise.withResolvers<void>()
      const { arrived, ended } = service.model.reply({ text: ['well', gate.promise, 'more'] })
      const leaving = new AbortController()
      const answer = visitor.fetch('POST', completions, body, {}, leaving.signal).then((response) => response.text())
      await arrived
      leaving.abort()
      await expect(answer).rejects.toThrow()
      expect(await ended).toBe('dropped')
      gate.resolve()
    }

    it.each<[string, (visitor: ApiClient, body: object, word: string) => Promise<void>, receipts?: number]>([
      [
        'is answered',
        async (visitor, body, word) => {
          service.model.reply({ text: `answer ${word}` })
          expect((await visitor.post(completions, body)).choices[0].message.content).toBe(`answer ${word}`)
        },
      ],
      [
        'is streamed',
        async (visitor, body, word) => {
          service.model.reply({ text: ['answer ', word] })
          const { text } = await visitor.call('POST', completions, { ...body, stream: true })
          expect(text).toContain('[DONE]')
        },
      ],
      [
        'fails',
        async (visitor, body, word) => {
          service.model.reply({ status: 400, errorMessage: `refused ${word}` })
          expect((await visitor.call('POST', completions, body)).status).toBeGreaterThanOrEqual(400)
        },
      ],
      [
        'fails while it is streamed',
        async (visitor, body, word) => {
          service.model.reply({ status: 400, errorMessage: `refused ${word}` })
          expect((await visitor.call('POST', completions, { ...body, stream: true })).text).not.toContain('[DONE]')
        },
      ],
      // The run has to be ended first, which a workflow does.
      ['loses its caller', (visitor, body) => leave(visitor, body), 1],
      ['loses its caller while it is streamed', (visitor, body) => leave(visitor, { ...body, stream: true }), 1],
    ])('leaves nothing of the conversation when it %s', async (_case, ask, receipts = 0) => {
      const { userId, visitor } = await publish()
      await visitor.post(completions, { ...question, store: true })
      const word = `word-${newId()}`
      await ask(
        visitor,
        { model: 'any', messages: [{ role: 'user', content: `question ${word}` }], store: false },
        word,
      )
      await expect.poll(() => threadsOf(userId), limit).toBe(1)
      await expect.poll(() => receiptsOf(userId), limit).toHaveLength(receipts)
      expect(await service.collections.runs.countDocuments({ user_id: userId })).toBe(1)
      expect(await stored()).not.toContain(word)
      const executions = await eventually('the workflows of both threads', async () => {
        const all = await Array.fromAsync(service.temporal.workflow.list({ query: `UserId = '${userId}'` }))
        return all.filter(({ type }) => type === 'threadWorkflow').length === 2 && all
      })
      expect(executions.filter(({ type }) => type === 'deletionWorkflow')).toHaveLength(receipts)
      for (const { workflowId } of executions) {
        const handle = service.temporal.workflow.getHandle(workflowId)
        expect(everythingIn([await handle.fetchHistory(), await handle.describe()])).not.toContain(word)
      }
      const streams = await Array.fromAsync(await service.redis.keys('*'), async (key) =>
        (await service.redis.type(key)) === 'stream' ? service.redis.xRange(key, '-', '+') : [],
      )
      expect(JSON.stringify(streams)).not.toContain(word)
    })

    it('is answered 404 for a key that was used before', async () => {
      const { userId, visitor } = await publish()
      const body = { ...question, store: false }
      const key = { 'idempotency-key': newId() }
      const asked = service.model.requests.length
      expect((await visitor.call('POST', completions, body, key)).status).toBe(200)
      await expect.poll(() => threadsOf(userId), limit).toBe(0)
      expect((await visitor.call('POST', completions, body, key)).status).toBe(404)
      expect(service.model.requests.length).toBe(asked + 1)
    })

    it('can be repeated with its key after a disconnect, until it is answered', async () => {
      const { userId, visitor } = await publish()
      const body = { ...question, store: false }
      const key = { 'idempotency-key': newId() }
      const gate = Promise.withResolvers<void>()
      const { arrived } = service.model.reply({ text: ['well ', gate.promise, 'done'] })
      const leaving = new AbortController()
      const first = visitor.fetch('POST', completions, body, key, leaving.signal)
      await arrived
      const { idempotencyKeys } = service.collections
      await expect.poll(() => idempotencyKeys.countDocuments({ subjects: userId, outcome: 'followed' })).toBe(1)
      leaving.abort()
      await expect(first).rejects.toThrow()
      const second = visitor.call('POST', completions, body, key)
      gate.resolve()
      expect((await second).body.choices[0].message.content).toBe('well done')
      await expect.poll(() => threadsOf(userId), limit).toBe(0)
    })

    it('is deleted by the retention when the answering process died', async () => {
      const { userId, visitor } = await publish()
      await visitor.post(completions, question)
      await service.collections.threads.updateOne({ user_id: userId }, { $set: { expires_at: new Date() } })
      await round(1000)
      await expect.poll(() => threadsOf(userId), limit).toBe(0)
    })

    it('is not deleted while it is under way, for a day', async () => {
      const { userId, visitor } = await publish()
      const gate = Promise.withResolvers<void>()
      const { arrived } = service.model.reply({ text: ['slow ', gate.promise, 'answer'] })
      const answer = visitor.post(completions, { ...question, store: false })
      await arrived
      await round(day / 2)
      const [thread] = await service.collections.threads.find({ user_id: userId }).lean()
      expect(thread?.deleting).toBeUndefined()
      expect(thread?.expires_at?.getTime()).toBeGreaterThan(Date.now() + day / 2)
      gate.resolve()
      expect((await answer).choices[0].message.content).toBe('slow answer')
      await expect.poll(() => threadsOf(userId), limit).toBe(0)
    })
  })

  it('deletes accounts that were not verified in time', async () => {
    const users = await Promise.all([insertUser(service), insertUser(service), insertUser(service)])
    const [pending, recent, verified] = users
    const age = (userId: string, days: number, isVerified = false) =>
      service.collections.users.updateOne(
        { _id: userId },
        { $set: { verified: isVerified, created_at: new Date(Date.now() - days * day) } },
      )
    await age(pending.userId, 8)
    await age(recent.userId, 6)
    await age(verified.userId, 8, true)
    await round()
    const isThere = async ({ userId }: { userId: string }) =>
      (await service.collections.users.exists({ _id: userId })) !== null
    await expect.poll(() => isThere(pending), limit).toBe(false)
    expect(await isThere(recent)).toBe(true)
    expect(await isThere(verified)).toBe(true)
  })

  it('cancels runs that have waited too long for a decision', async () => {
    const user = await insertUser(service)
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'A' })
    const { thread_id: threadId } = await user.post('/threads/', {})
    const run = (days: number) => ({
      _id: newId(),
      thread_id: String(threadId),
      user_id: user.userId,
      project_id: user.projectId,
      assistant_id: String(assistantId),
      public: false,
      acting: { person: 'owner' as const, origin: 'chat' as const },
      status: 'interrupted' as const,
      input_json: '[]',
      overrides: {},
      fence: 1,
      created_at: new Date(Date.now() - days * day),
    })
    const [old, young] = [run(15), run(13)]
    await service.collections.runs.create([old, young])
    await round()
    expect((await user.get(`/runs/${old._id}`)).status).toBe('cancelled')
    expect((await user.get(`/runs/${young._id}`)).status).toBe('interrupted')
  })

  it('keeps the streams of runs for as long as the setting says', async () => {
    const { userId, visitor } = await publish()
    await visitor.post(completions, question)
    const run = await service.collections.runs.findOne({ user_id: userId }).lean()
    const ttls = await Promise.all((await service.redis.keys(`*${run?._id}*`)).map((key) => service.redis.ttl(key)))
    expect(ttls.length).toBeGreaterThan(0)
    for (const ttl of ttls) {
      expect(ttl).toBeGreaterThan(0)
      expect(ttl).toBeLessThanOrEqual(2 * 3600)
    }
  })
})
