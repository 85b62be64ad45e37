import { describe, expect, it, onTestFinished } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { page, startSite, webReader } from '../sources/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { type TestUser, insertUser } from '../support/users.ts'

const prices = {
  currency: 'EUR',
  models: {
    scripted: { input: 1_000_000, cached_input: 250_000, output: 1_000_000 },
    embedding: { input: 2_000_000, output: 0 },
  },
  // One a second.
  minutes: { recognition: 60, code: 60 },
}

describe('budgets', () => {
  const service = useModelService({
    respond: () => ({ text: ['well'] }),
    env: { MODEL_PRICES: JSON.stringify(prices), EMBEDDING_MODEL: 'embedding', OUTBOUND_ALLOW: '127.0.0.1/32' },
  })

  async function withAssistant(user: TestUser) {
    const publicToken = `pt-${newId()}`
    const config = { 'type==agent/access_mode': 'public_token', 'type==agent/public_token': publicToken }
    const { assistant_id: id } = await user.post('/assistants/', { name: 'A', config })
    return { id: String(id), publicToken }
  }

  async function run(user: TestUser, assistantId: string) {
    const { thread_id: threadId } = await user.post('/threads/', {})
    const answer = await user.fetch('POST', '/runs/stream', {
      thread_id: threadId,
      assistant_id: assistantId,
      input: [{ type: 'human', content: 'hi' }],
    })
    return { status: answer.status, text: await answer.text(), retryAfter: Number(answer.headers.get('retry-after')) }
  }

  const ask = (token: string) =>
    apiClient(service.url, token).call('POST', '/public/compat/v1/chat/completions', {
      model: 'any',
      messages: [{ role: 'user', content: 'hi' }],
    })
  const usedOf = async (user: TestUser, path: string) => (await user.get(path)).used

  it('returns 429 for a run beyond the budget, and does not affect other projects', async () => {
    const [user, bystander] = [await insertUser(service), await insertUser(service)]
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    const none = { runs: null, tokens: null, money: null }
    expect(await user.get(path)).toMatchObject({
      limits: none,
      used: { runs: 0, tokens: 0, money: 0 },
      currency: 'eur',
    })
    expect(await user.put(path, { runs: 2 })).toMatchObject({ limits: { ...none, runs: 2 } })
    expect((await run(user, assistant.id)).status).toBe(200)
    expect((await ask(assistant.publicToken)).status).toBe(200)
    const refused = await run(user, assistant.id)
    expect(refused.status).toBe(429)
    expect(refused.text).toContain('The budget of this project for today is used up: 2 runs.')
    expect(refused.retryAfter).toBeGreaterThan(0)
    const stranger = await ask(assistant.publicToken)
    expect(stranger.status).toBe(429)
    expect(stranger.body.detail).toBe('This assistant has reached its limit for today. Try again tomorrow (UTC).')
    expect(await service.collections.runs.countDocuments({ user_id: user.userId })).toBe(2)
    expect((await run(bystander, (await withAssistant(bystander)).id)).status).toBe(200)
    await user.put(path, {})
    expect((await run(user, assistant.id)).status).toBe(200)
  })

  it('admits all choices of a completion, or none', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { runs: 3 })
    const complete = async (n: number) =>
      user.call('POST', '/v1/chat/completions', {
        model: assistant.id,
        n,
        messages: [{ role: 'user', content: 'hi' }],
        store: true,
      })
    expect((await complete(4)).status).toBe(429)
    expect(await service.collections.runs.countDocuments({ user_id: user.userId })).toBe(0)
    expect((await usedOf(user, path)).runs).toBe(0)
    expect((await complete(3)).body.choices).toHaveLength(3)
    expect((await usedOf(user, path)).runs).toBe(3)
  })

  it('admits exactly as many simultaneous runs as the budget allows', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    await user.put(`/projects/${user.projectId}/budget`, { runs: 5 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(assistant.publicToken)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array(5).fill(200),
      ...Array(7).fill(429),
    ])
    expect((await usedOf(user, `/projects/${user.projectId}/budget`)).runs).toBe(5)
  })

  it('counts tokens and money of the model that answered, and returns 402 when the money is used up', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { money: 0.5, tokens: 1_000_000 })
    expect((await run(user, assistant.id)).status).toBe(200)
    const record = await service.collections.runs.findOne({ user_id: user.userId }).lean()
    const tokens = record?.usage?.total_tokens ?? 0
    expect(tokens).toBeGreaterThan(0)
    expect(record?.model).toBe('scripted')
    await expect.poll(() => usedOf(user, path)).toEqual({ runs: 1, tokens, money: tokens })
    const refused = await run(user, assistant.id)
    expect(refused.status).toBe(402)
    expect(refused.text).toContain('0.5 of money')
    const messages = [{ role: 'user', content: 'hi' }]
    for (const [other, body] of [
      ['/v1/threads/runs', { assistant_id: assistant.id, thread: { messages } }],
      ['/v1/responses', { model: assistant.id, input: 'hi' }],
      ['/v1/chat/completions', { model: assistant.id, messages }],
    ] as const)
      expect({ other, status: (await user.call('POST', other, body)).status }).toEqual({ other, status: 402 })
    await user.put(path, { tokens })
    const overTokens = await run(user, assistant.id)
    expect(overTokens.status).toBe(429)
    expect(overTokens.text).toContain(`${tokens} tokens`)
    const [model] = (await user.get('/user/usage')).models_used
    expect(model).toEqual({
      model: 'scripted',
      runs: 1,
      prompt_tokens: record?.usage?.prompt_tokens,
      completion_tokens: record?.usage?.completion_tokens,
      total_tokens: tokens,
      cached_tokens: 0,
      reasoning_tokens: 0,
      cost: tokens,
    })
  })

  it('counts tokens that the provider read from its cache at their own price', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { money: 1_000_000 })
    const details = { prompt_tokens_details: { cached_tokens: 8 }, completion_tokens_details: { reasoning_tokens: 2 } }
    service.model.reply({ text: 'Cheap.', usage: { prompt_tokens: 10, completion_tokens: 5, details } })
    expect((await run(user, assistant.id)).text).toContain('"cached_tokens":8')
    const money = 2 + 8 * 0.25 + 5
    await expect.poll(() => usedOf(user, path)).toEqual({ runs: 1, tokens: 15, money })
    const { _id: runId } = (await service.collections.runs.findOne({ user_id: user.userId }).lean()) ?? {}
    expect(await user.get(`/runs/${runId}`)).toMatchObject({
      cost: money,
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cached_tokens: 8, reasoning_tokens: 2 },
    })
    const used = await user.get('/user/usage')
    expect(used).toMatchObject({ cost: money, cached_tokens: 8, reasoning_tokens: 2, days: [{ cost: money }] })
    // What was spent before there is a budget.
    const other = `/assistants/${assistant.id}/budget`
    service.model.reply({ text: 'Cheap.', usage: { prompt_tokens: 10, completion_tokens: 5, details } })
    expect((await ask(assistant.publicToken)).status).toBe(200)
    expect((await usedOf(user, other)).money).toBe(money)
  })

  it('counts what was asked of a model, whatever became of the answer', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { tokens: 1_000_000 })
    const text = 'a word '.repeat(400)
    const { thread_id: threadId } = await user.post('/threads/', {})
    const ask = async (content: string) =>
      user.fetch('POST', '/runs/stream', {
        thread_id: threadId,
        assistant_id: assistant.id,
        input: [{ type: 'human', content }],
      })

    // Read to its last words, and cancelled.
    const never = new Promise<never>(() => {})
    service.model.reply({ text: [text, never] })
    const cancelled = await ask('hi')
    const reader = cancelled.body?.getReader()
    let read = ''
    while (!read.includes('a word a word')) read += new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    const [run] = await user.get(`/threads/${threadId}/runs`).then((found) => found.runs ?? found)
    await user.post(`/runs/${run.run_id}/cancel`)
    await expect.poll(async () => (await usedOf(user, path)).tokens).toBeGreaterThan(600)
    const { usage, cost } = await user.get(`/runs/${run.run_id}`)
    expect(usage.completion_tokens).toBe(Math.ceil(text.length / 4))
    expect(usage.prompt_tokens).toBeGreaterThan(0)
    expect(cost).toBe(usage.total_tokens)
    expect((await usedOf(user, path)).tokens).toBe(usage.total_tokens)

    // Broken off, and asked again.
    service.model.reply({ text, breakConnection: true })
    service.model.reply({ text: 'Whole.', usage: { prompt_tokens: 10, completion_tokens: 5 } })
    expect(await (await ask('again')).text()).toContain('event: end')
    const [second] = await user.get(`/threads/${threadId}/runs`).then((found) => found.runs ?? found)
    const both = (await user.get(`/runs/${second.run_id}`)).usage
    expect(both.completion_tokens).toBe(5 + Math.ceil(text.length / 4))
    expect(both.prompt_tokens).toBeGreaterThan(10)
    await expect.poll(async () => (await usedOf(user, path)).tokens).toBe(usage.total_tokens + both.total_tokens)

    // Refused before anything was answered.
    service.model.reply({ status: 400 })
    expect(await (await ask('wrong')).text()).toContain('event: error')
    expect((await usedOf(user, path)).tokens).toBe(usage.total_tokens + both.total_tokens)
  })

  it('counts the time of recognition, and that of code in all budgets of its run', async () => {
    const user = await insertUser(service)
    const { workUsage } = service.api.platform.core
    const publicToken = `pt-${newId()}`
    const { assistant_id: id } = await user.post('/assistants/', {
      name: 'Coder',
      config: {
        'type==agent/access_mode': 'public_token',
        'type==agent/public_token': publicToken,
        'type==agent/tools': [{ type: 'code' }],
      },
    })
    const [ofProject, ofCallers] = [`/projects/${user.projectId}/budget`, `/assistants/${id}/budget`]
    await workUsage.note({ assistantId: id }, { recognition_seconds: 7 })
    // What was spent before the budgets were made, and after.
    for (const path of [ofProject, ofCallers]) await user.put(path, { money: 1_000_000 })
    await workUsage.note({ assistantId: id }, { recognition_seconds: 5 })
    expect(await usedOf(user, ofProject)).toEqual({ runs: 0, tokens: 0, money: 12 })
    expect((await usedOf(user, ofCallers)).money).toBe(0)

    const usage = { prompt_tokens: 1, completion_tokens: 1 }
    const call = { id: 'c', name: 'code', arguments: { code: 'sum(range(1_000_000))' } }
    service.model.reply({ toolCalls: [call], usage })
    service.model.reply({ text: 'Done.', usage })
    expect((await ask(publicToken)).body.choices[0].message.content).toBe('Done.')
    const seconds = async () => (await user.get('/user/usage')).work.code_seconds
    await expect.poll(seconds).toBeGreaterThan(0)
    const { work } = await user.get('/user/usage')
    expect(work.cost).toBeCloseTo(12 + work.code_seconds, 0)
    const [all, theirs] = [await usedOf(user, ofProject), await usedOf(user, ofCallers)]
    expect(theirs.money).toBeCloseTo(4 + work.code_seconds, 0)
    expect(all.money).toBeCloseTo(12 + theirs.money, 5)
    await user.put(ofProject, { money: 1 })
    expect((await ask(publicToken)).status).toBe(402)
  })

  it('counts what files and pages cost, and begins no other when the budget is spent', async () => {
    const reader = await webReader(service)
    const budget = `/projects/${reader.projectId}/budget`
    const ended = (name: string) =>
      eventually('the end of the file', async () => {
        const file = (await reader.list()).body.files.find((one: { name: string }) => one.name === name)
        return ['ready', 'failed'].includes(file?.metadata.status) && { ...file.metadata, id: file.id }
      })
    const text = (words: string) => ({ name: `${words}.txt`, content: `${words} `.repeat(200) })
    await reader.upload([text('before')])
    expect((await ended('before.txt')).status).toBe('ready')
    const { work, cost } = await reader.get('/user/usage')
    expect(work.embedding_tokens).toBeGreaterThan(100)
    expect(work).toMatchObject({ crawled_pages: 0, cost: 2 * work.embedding_tokens })
    expect(cost).toBe(work.cost)
    // What was spent before counts in a new budget, and what follows in the same.
    const used = async () => usedOf(reader, budget)
    await reader.put(budget, { tokens: 1_000_000 })
    expect(await used()).toEqual({ runs: 0, tokens: work.embedding_tokens, money: work.cost })
    const site = await startSite({ '/a': page('Harbour', 'A berth costs 23 marks. '.repeat(20)) })
    onTestFinished(() => site.close())
    const { body: source } = await reader.add({ type: 'page', url: `${site.url}/a` })
    expect((await reader.ended(source.source_id)).status).toBe('ready')
    const crawled = (await reader.get('/user/usage')).work
    expect(crawled.crawled_pages).toBe(1)
    expect((await used()).tokens).toBe(crawled.embedding_tokens)
    const ask = () => reader.call('POST', '/v1/embeddings', { model: 'embedding', input: 'Where is the office?' })
    const { usage } = (await ask()).body
    expect((await used()).tokens).toBe(crawled.embedding_tokens + usage.total_tokens)

    const reason = 'The budget of this project for today is used up: 1 tokens.'
    await reader.put(budget, { tokens: 1 })
    const { status, body } = await ask()
    expect([status, body.error.message]).toEqual([429, expect.stringContaining(reason)])
    await reader.upload([text('after')])
    const failed = await ended('after.txt')
    expect(failed).toMatchObject({ status: 'failed', error: expect.stringContaining(reason) })
    await reader.refresh(source.source_id)
    expect(await reader.ended(source.source_id)).toMatchObject({ status: 'ready', pages: 1 })
    const { body: other } = await reader.add({ type: 'page', url: `${site.url}/b` })
    expect(await reader.ended(other.source_id)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining(reason),
    })
    expect(site.asked.filter((path) => path !== '/robots.txt')).toEqual(['/a'])
    await reader.put(budget, {})
    expect((await reader.call('POST', `/assistants/${reader.assistantId}/files/${failed.id}/retry`, {})).status).toBe(
      202,
    )
    expect((await ended('after.txt')).status).toBe('ready')
  })

  it('limits the public callers of one assistant, and not its owner', async () => {
    const user = await insertUser(service)
    const [limited, free] = [await withAssistant(user), await withAssistant(user)]
    await user.put(`/assistants/${limited.id}/budget`, { runs: 1 })
    expect((await ask(limited.publicToken)).status).toBe(200)
    expect((await ask(limited.publicToken)).status).toBe(429)
    expect((await ask(free.publicToken)).status).toBe(200)
    expect((await run(user, limited.id)).status).toBe(200)
    expect((await usedOf(user, `/assistants/${limited.id}/budget`)).runs).toBe(1)
    const tokens = (await user.get('/user/usage')).public_assistants_used
    expect(Object.fromEntries(tokens.map((entry: any) => [entry.assistant_id, entry.runs]))).toEqual({
      [limited.id]: 1,
      [free.id]: 1,
    })
    expect(tokens).toHaveLength(2)
  })

  it('counts always, also before a limit is set and while it is cleared', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    expect((await run(user, assistant.id)).status).toBe(200)
    expect((await ask(assistant.publicToken)).status).toBe(200)
    const before = await user.get(path)
    expect(before).toMatchObject({ limits: { runs: null }, used: { runs: 2 } })
    expect(before.used.tokens).toBeGreaterThan(0)
    expect(before.used.money).toBe(before.used.tokens)
    const own = await user.put(`/assistants/${assistant.id}/budget`, { runs: 1 })
    expect(own.used.runs).toBe(1)
    expect((await ask(assistant.publicToken)).status).toBe(429)
    expect(await user.put(path, { runs: 3 })).toMatchObject({ limits: { runs: 3 }, used: before.used })
    expect((await run(user, assistant.id)).status).toBe(200)
    expect((await run(user, assistant.id)).status).toBe(429)
    expect(await user.put(path, {})).toMatchObject({ limits: { runs: null }, used: { runs: 3 } })
    expect((await run(user, assistant.id)).status).toBe(200)
    expect(await user.put(path, { runs: 4 })).toMatchObject({ used: { runs: 4 } })
    expect((await run(user, assistant.id)).status).toBe(429)
  })

  it('counts an answer that is under way when the first limit is set', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ after: gate.promise, text: ['late'] })
    const answer = run(user, assistant.id)
    await reply.arrived
    expect(await user.put(path, { money: 1 })).toMatchObject({ used: { runs: 1, money: 0 } })
    const refused = await run(user, assistant.id)
    expect(refused.status).toBe(402)
    expect(refused.retryAfter).toBe(10)
    expect(refused.text).toContain('what the answers under way may cost (money)')
    expect((await ask(assistant.publicToken)).body.detail).toContain('Try again in a moment.')
    gate.resolve()
    expect((await answer).status).toBe(200)
    // The process looked a moment ago.
    await service.collections.budgets.updateMany({ user_id: user.userId }, { $unset: { looked_at: 1 } })
    const { used } = await user.get(path)
    expect(used.runs).toBe(1)
    expect(used.money).toBeGreaterThan(1)
    expect((await run(user, assistant.id)).text).toContain('1 of money')
  })

  it('admits a burst only as far as the money reaches', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { money: 0.05 })
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ after: gate.promise, text: ['one'] })
    let refused = 0
    const burst = Array.from({ length: 12 }, async () => {
      const { status } = await ask(assistant.publicToken)
      if (status === 402 && ++refused === 11) gate.resolve()
      return status
    })
    await reply.arrived
    const statuses = (await Promise.all(burst)).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array(11).fill(402)])
    expect((await usedOf(user, path)).runs).toBe(1)
    expect((await service.collections.budgets.findById(`project/${user.projectId}`).lean())?.held).toEqual([])
  })

  it('gives back a run that is cancelled before it begins, and one whose model fails', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { runs: 9 })
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ after: gate.promise, text: ['late'] })
    const { thread_id: threadId } = await user.post('/threads/', {})
    const body = { thread_id: threadId, assistant_id: assistant.id, input: [{ type: 'human', content: 'hi' }] }
    await user.post('/runs/', body)
    await reply.arrived
    const waiting = await user.post('/runs/', body)
    expect((await usedOf(user, path)).runs).toBe(2)
    await user.post(`/runs/${waiting.run_id}/cancel`, {})
    gate.resolve()
    const { budgets, runs } = service.collections
    const record = () => budgets.findById(`project/${user.projectId}`).lean()
    await expect.poll(async () => (await record())?.held).toEqual([])
    expect((await record())?.runs).toBe(1)
    service.model.reply({ status: 401 })
    expect((await run(user, assistant.id)).text).toContain('error')
    await expect.poll(async () => (await record())?.held).toEqual([])
    expect((await record())?.runs).toBe(1)
    expect(await runs.countDocuments({ user_id: user.userId, status: 'error' })).toBe(1)
  })

  it('counts what a run has cost that is deleted while it waits', async () => {
    const user = await insertUser(service)
    const config = { 'type==agent/tools': [{ type: 'http_request' }], 'type==agent/interrupt_before_action': true }
    const { assistant_id: assistantId } = await user.post('/assistants/', { name: 'A', config })
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { runs: 9 })
    service.model.reply({
      toolCalls: [{ id: 'call', name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:9/' } }],
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    })
    const { thread_id: threadId } = await user.post('/threads/', {})
    const input = [{ type: 'human', content: 'hi' }]
    await user
      .fetch('POST', '/runs/stream', { thread_id: threadId, assistant_id: assistantId, input })
      .then((one) => one.text())
    expect(await usedOf(user, path)).toEqual({ runs: 1, tokens: 0, money: 0 })
    await user.delete(`/threads/${threadId}`)
    expect(await usedOf(user, path)).toEqual({ runs: 1, tokens: 10, money: 10 })
  })

  it('counts nothing in one budget when another refuses the run', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    await user.put(`/projects/${user.projectId}/budget`, { runs: 9 })
    await user.put(`/assistants/${assistant.id}/budget`, { runs: 0 })
    expect((await ask(assistant.publicToken)).status).toBe(429)
    expect((await usedOf(user, `/projects/${user.projectId}/budget`)).runs).toBe(0)
  })

  it('includes assistants that are created in the project or moved into it, and no longer those that leave it', async () => {
    const user = await insertUser(service)
    const { project_id: other } = await user.post('/projects/', { name: 'other' })
    const outside = await withAssistant(user)
    await user.put(`/projects/${other}/budget`, { runs: 0 })
    await user.put(`/assistants/${outside.id}/project`, { project_id: other })
    expect((await ask(outside.publicToken)).status).toBe(429)
    const token = await service.api.services.tokens.sign({ user_id: user.userId, project_id: String(other) })
    const made = await withAssistant({ ...user, ...apiClient(service.url, token), token })
    expect((await ask(made.publicToken)).status).toBe(429)
    await user.put(`/assistants/${made.id}/project`, { project_id: user.projectId })
    expect((await ask(made.publicToken)).status).toBe(200)
  })

  it('resets every day', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    await user.put(`/assistants/${assistant.id}/budget`, { runs: 1 })
    await service.collections.budgets.updateOne(
      { _id: `public/${assistant.id}` },
      { $set: { day: '2020-01-01', runs: 1, tokens: 5, money: 5 } },
    )
    expect((await usedOf(user, `/assistants/${assistant.id}/budget`)).runs).toBe(0)
    const answers = await Promise.all([1, 2, 3].map(() => ask(assistant.publicToken)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 429, 429])
  })

  it('uncounts a run that is refused for another reason', async () => {
    const user = await insertUser(service)
    const assistant = await withAssistant(user)
    const path = `/projects/${user.projectId}/budget`
    await user.put(path, { runs: 9 })
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ after: gate.promise, text: ['late'] })
    const { thread_id: threadId } = await user.post('/threads/', {})
    const body = { thread_id: threadId, assistant_id: assistant.id, input: [{ type: 'human', content: 'hi' }] }
    await user.post('/runs/', body)
    await reply.arrived
    await user.post('/runs/', { ...body, multitask_strategy: 'reject' }, 409)
    expect((await usedOf(user, path)).runs).toBe(1)
    gate.resolve()
  })

  it('is deleted with its project or assistant, and is accessible to their owner only', async () => {
    const [user, other] = [await insertUser(service), await insertUser(service)]
    const assistant = await withAssistant(user)
    await user.put(`/projects/${user.projectId}/budget`, { runs: 1 })
    await user.put(`/assistants/${assistant.id}/budget`, { runs: 1 })
    await other.put(`/projects/${user.projectId}/budget`, { runs: 9 }, 403)
    await other.get(`/assistants/${assistant.id}/budget`, 403)
    await user.put(`/projects/${user.projectId}/budget`, { runs: -1 }, 422)
    await user.delete('/auth/delete-user', { email_confirmation: user.email })
    expect(await service.collections.budgets.countDocuments({ user_id: user.userId })).toBe(0)
  })
})
