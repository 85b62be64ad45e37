import { describe, expect, it, test } from 'vitest'
import { type OpenQuestion, groupQuestions } from '../../services/insights/group-questions.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { allEvents } from '../support/sse.ts'
import { insertUser } from '../support/users.ts'

const kept = { 'type==agent/access_mode': 'public_no_auth', 'type==agent/keeps_chats': true }

describe('what the owner of an assistant sees of its use', () => {
  const service = useModelService({
    respond: ({ body }) => (JSON.stringify(body.messages).includes('fail') ? { status: 400 } : { text: 'An answer.' }),
  })

  const visitor = () => apiClient(service.url, undefined)
  async function open(config: object = kept) {
    const owner = await insertUser(service)
    const { assistant_id: id } = await owner.post('/assistants/', { name: 'Harbour', config })
    const ask = async (content: string, threadId?: string) => {
      const input = [{ type: 'human', content }]
      const body = { assistant_id: id, input, ...(threadId && { thread_id: threadId }) }
      const events = await allEvents(await visitor().fetch('POST', '/public/runs/stream', body))
      return JSON.parse(events.find(({ event }) => event === 'metadata')?.data ?? '{}')
    }
    const rate = (runId: string, body: object) => visitor().call('POST', `/public/runs/${runId}/feedback`, body)
    const insights = (what: string, user = owner) => user.call('GET', `/assistants/${id}/insights/${what}`)
    return { owner, id, ask, rate, insights }
  }

  it('are chats of visitors and their thumbs, if the assistant says that it keeps them', async () => {
    const { owner, ask, rate, insights } = await open()
    const first = await ask('When is high water?')
    expect(first.kept).toBe(true)
    await ask('And tomorrow?', first.thread_id)
    expect((await rate(first.run_id, { score: 1 })).status).toBe(200)
    expect((await rate(first.run_id, { score: 0, value: 'wrong', comment: 'It was low.' })).status).toBe(200)

    const chats = (await insights('chats')).body
    expect(chats).toMatchObject([
      { thread_id: first.thread_id, question: 'When is high water?', runs: 2, failed: 0, up: 0, down: 1 },
    ])
    expect((await insights(`chats/${first.thread_id}`)).body).toEqual([
      { by_visitor: true, text: 'When is high water?' },
      { by_visitor: false, text: 'An answer.' },
      { by_visitor: true, text: 'And tomorrow?' },
      { by_visitor: false, text: 'An answer.' },
    ])
    expect((await insights('feedback')).body).toMatchObject([
      {
        by_visitor: true,
        score: 0,
        reason: 'wrong',
        comment: 'It was low.',
        question: 'When is high water?',
        answer: 'An answer.',
      },
    ])
    expect(await service.collections.feedback.countDocuments({ run_id: first.run_id, user_id: owner.userId })).toBe(1)
    expect((await insights('open-questions')).body).toMatchObject([
      {
        question: 'When is high water?',
        count: 1,
        disliked: 1,
        failed: 0,
        not_found: 0,
        thread_ids: [first.thread_id],
      },
    ])
  })

  it('are questions without a good answer, put together by their words', async () => {
    const { ask, insights } = await open()
    await ask('fail: what does the new crane cost per hour?')
    await ask('fail: what does the new crane cost per day?')
    await ask('What does the old crane cost per hour?')
    await ask('fail: who is the harbour master')
    const { body } = await insights('open-questions')
    expect(body.map(({ count, failed }: { count: number; failed: number }) => [count, failed])).toEqual([
      [2, 2],
      [1, 1],
    ])
    expect(body[0].question).toContain('per day')
  })

  it('are questions whose searches found nothing, but for those of which one did', async () => {
    const { ask, insights } = await open()
    const [vain, found] = [await ask('Where is the lost anchor?'), await ask('Who owns the tug boat?')]
    const search = (run: any, index: number, result: string) => ({
      _id: `${run.run_id}-0-${index}`,
      run_id: run.run_id,
      thread_id: run.thread_id,
      step: 0,
      index,
      call_id: `c${index}`,
      name: 'retrieval',
      args_json: '{}',
      status: 'done' as const,
      result,
      created_at: new Date(),
    })
    const nothing = '{"passages":[]}'
    const something = '{"passages":[{"text":"The harbour owns it."}]}'
    await service.collections.toolCalls.collection.insertMany([
      search(vain, 0, nothing),
      search(vain, 1, nothing),
      search(found, 0, nothing),
      search(found, 1, something),
    ] as never)
    expect((await insights('open-questions')).body).toMatchObject([
      { question: 'Where is the lost anchor?', not_found: 1, thread_ids: [vain.thread_id] },
    ])
  })

  it('read a bounded part of inputs of megabytes', async () => {
    const { id, ask, insights } = await open()
    const first = await ask('fail: how deep is the basin?')
    const long = JSON.stringify([{ type: 'HumanMessage', data: { id: 'm', content: 'x'.repeat(1024 * 1024) } }])
    const run = await service.collections.runs.findById(first.run_id).lean()
    const copies = Array.from({ length: 20 }, (_, at) => ({ ...run, _id: `${first.run_id}-${at}`, input_json: long }))
    await service.collections.runs.collection.insertMany(copies as never)
    expect((await insights('chats')).body).toMatchObject([{ thread_id: first.thread_id, runs: 15 }])
    expect((await insights('open-questions')).status).toBe(200)
    await service.collections.runs.deleteMany({ assistant_id: id, input_json: long })
  })

  it('is nothing of visitors where the assistant does not say it', async () => {
    const { owner, id, ask, rate, insights } = await open({ 'type==agent/access_mode': 'public_no_auth' })
    const { run_id: runId, thread_id: threadId, kept: isKept } = await ask('A secret of a visitor')
    expect(isKept).toBeUndefined()
    expect((await rate(runId, { score: 0 })).status).toBe(403)
    for (const what of ['chats', `chats/${threadId}`, 'open-questions']) {
      const { status, text } = await insights(what)
      expect(status).toBe(403)
      expect(text).not.toContain('secret')
    }
    expect((await insights('feedback')).body).toEqual([])

    // What was said while they were kept is not shown any more either.
    await owner.put(`/assistants/${id}`, { name: 'Harbour', config: kept })
    await rate(runId, { score: 0 })
    expect((await insights('feedback')).body).toHaveLength(1)
    await owner.put(`/assistants/${id}`, { name: 'Harbour', config: { 'type==agent/access_mode': 'public_no_auth' } })
    expect((await insights('feedback')).body).toEqual([])
  })

  it('shows the thumbs of the own chats, and no chat of another assistant or to another user', async () => {
    const { owner, id, ask, insights } = await open()
    const { thread_id } = await owner.post('/threads/', { assistant_id: id })
    const input = [{ type: 'human', content: 'Mine?' }]
    const { run_id } = await owner.post('/runs/', { thread_id, assistant_id: id, input })
    await owner.post('/runs/feedback', { run_id, key: 'thumb', score: 0, value: 'source', comment: 'No.' })
    expect((await insights('feedback')).body).toMatchObject([
      { by_visitor: false, score: 0, reason: 'source', comment: 'No.', question: 'Mine?' },
    ])
    const other = await open()
    const foreign = await other.ask('Elsewhere?')
    expect((await insights(`chats/${foreign.thread_id}`)).status).toBe(404)
    expect((await insights(`chats/${thread_id}`)).status).toBe(404)
    await ask('Here?')
    for (const what of ['chats', 'feedback', 'open-questions'])
      expect((await insights(what, other.owner)).status).toBe(403)
    expect((await visitor().call('GET', `/assistants/${id}`)).status).toBeGreaterThan(400)
  })

  it('refuses feedback that is too long, or to a run that is not public', async () => {
    const { owner, id, ask, rate } = await open()
    const { run_id: runId } = await ask('Hi')
    expect((await rate(runId, { score: 2 })).status).toBe(422)
    expect((await rate(runId, { score: 1, comment: 'x'.repeat(2001) })).status).toBe(422)
    const { thread_id } = await owner.post('/threads/', { assistant_id: id })
    const own = await owner.post('/runs/', { thread_id, assistant_id: id, input: [{ type: 'human', content: 'Hi' }] })
    expect((await rate(own.run_id, { score: 1 })).status).toBe(404)
  })
})

test('questions are put together by most of their words, in any language, and quickly', () => {
  const asked = (question: string, at = 0): OpenQuestion => ({
    question,
    threadId: question,
    askedAt: new Date(at),
    reasons: ['failed'],
  })
  const groups = groupQuestions([
    asked('Was kostet ein Liegeplatz im Sommer?'),
    asked('Was kostet im Sommer ein Liegeplatz', 5),
    asked('潮 は いつ'),
    asked('Wo ist das Büro?'),
    asked(''),
  ])
  expect(groups.map(({ question, count }) => [question, count])).toEqual([
    ['Was kostet im Sommer ein Liegeplatz', 2],
    ['潮 は いつ', 1],
    ['Wo ist das Büro?', 1],
    ['', 1],
  ])
  const many = Array.from({ length: 300 }, (_, at) => asked(`${at} ${'wörter '.repeat(200)} ${at * 7}`, at))
  const begin = performance.now()
  groupQuestions(many.map((one, at) => ({ ...one, question: one.question.replaceAll('wörter', () => `w${at}x`) })))
  expect(performance.now() - begin).toBeLessThan(1000)
})
