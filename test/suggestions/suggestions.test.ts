import { describe, expect, it } from 'vitest'
import { suggestionContract } from '../../domain/contracts/suggestion.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { historyText, recordHistory } from '../support/histories.ts'
import { useModelService } from '../support/model-service.ts'
import type { ChatRequest } from '../support/scripted-model.ts'
import { insertUser } from '../support/users.ts'

const isSmall = ({ body }: ChatRequest) => body.model === 'small'
const suggestions = 'Rain in Lisbon\nWill it rain tomorrow?\nHow warm is it?\nDo I need a coat?'
const questions = suggestions.split('\n').slice(1)

describe('the small model', () => {
  const service = useModelService({
    env: {
      SMALL_MODEL: 'small',
      OUTBOUND_ALLOW: '127.0.0.1/32',
      MODEL_PRICES: '{"currency":"usd","models":{"small":{"input":10,"output":10},"*":{"input":0,"output":0}}}',
    },
    respond: (request) =>
      isSmall(request)
        ? { text: suggestions, usage: { prompt_tokens: 70, completion_tokens: 30 } }
        : { text: 'It rains.', usage: { prompt_tokens: 2, completion_tokens: 1 } },
  })

  /** The workflow is started a moment after the stream has ended. */
  const outcomeOf = async (runId: string) => {
    const handle = service.temporal.workflow.getHandle(suggestionContract.id({ runId }))
    await eventually('the workflow', () => handle.describe())
    return String(await handle.result())
  }
  const isAsked = async (threadId: string, runId: string) => {
    await service.temporal.workflow.getHandle(threadContract.id({ threadId })).result()
    return service.temporal.workflow
      .getHandle(suggestionContract.id({ runId }))
      .describe()
      .then(
        () => true,
        () => false,
      )
  }
  const threadOf = (talk: Awaited<ReturnType<typeof conversation>>) => talk.client.get(`/threads/${talk.threadId}`)
  const talkIn = async (thread: object, config: object = {}) => {
    const talk = await conversation(service, config)
    const { thread_id: threadId } = await talk.client.post('/threads/', thread)
    const payload = (content: string) => ({ ...talk.payload(content), thread_id: threadId })
    const ask = async (content: string) => {
      const { run_id: runId } = await talk.client.post('/runs/', payload(content))
      expect((await talk.join(runId)).end).toBe('end')
      return runId as string
    }
    return { ...talk, threadId, ask }
  }

  it('names a chat that nobody has named and suggests questions; its tokens count as those of the run', async () => {
    const talk = await talkIn({ name: 'What is the weather…', provisional_name: true })
    const runId = await talk.ask('What is the weather in Lisbon?')
    expect(await outcomeOf(runId)).toBe('suggested')
    expect(await threadOf(talk)).toMatchObject({ name: 'Rain in Lisbon', follow_ups: questions })
    const asked = service.model.requests.findLast(isSmall)
    const text = JSON.stringify(asked?.body.messages)
    expect(text).toContain('What is the weather in Lisbon?')
    expect(text).toContain('It rains.')

    const run = await talk.client.get(`/runs/${runId}`)
    expect(run.usage).toMatchObject({ prompt_tokens: 72, completion_tokens: 31, total_tokens: 103 })
    const usage = await talk.client.get('/user/usage')
    expect(JSON.stringify(usage)).toContain('103')
    expect(run.cost).toBeCloseTo(0.001, 6)

    // The next answer removes them until there are new ones, and the name stays.
    service.model.reply({ when: isSmall, text: 'And the day after?' })
    const second = await talk.ask('And tomorrow?')
    expect(await outcomeOf(second)).toBe('suggested')
    expect(await threadOf(talk)).toMatchObject({ name: 'Rain in Lisbon', follow_ups: ['And the day after?'] })

    const history = await service.temporal.workflow.getHandle(suggestionContract.id({ runId })).fetchHistory()
    expect(historyText(history)).not.toContain('Lisbon')
    await recordHistory('suggestion', history)
    const thread = service.temporal.workflow.getHandle(threadContract.id({ threadId: talk.threadId }))
    await recordHistory('thread-suggesting', await thread.fetchHistory())
  })

  it('gives no other name to a chat that a person has named, also while it is asked', async () => {
    const named = await talkIn({ name: 'My chat' })
    expect(await outcomeOf(await named.ask('Rain?'))).toBe('suggested')
    expect(await threadOf(named)).toMatchObject({
      name: 'My chat',
      follow_ups: ['Rain in Lisbon', ...questions.slice(0, 2)],
    })

    const renamed = await talkIn({})
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const reply = service.model.reply({ when: isSmall, text: [gate, suggestions] })
    const runId = await renamed.ask('Rain?')
    await reply.arrived
    await renamed.client.put(`/threads/${renamed.threadId}`, { name: 'Mine' })
    open()
    expect(await outcomeOf(runId)).toBe('suggested')
    expect(await threadOf(renamed)).toMatchObject({ name: 'Mine', follow_ups: questions })
  })

  it('suggests nothing after words that were deleted meanwhile', async () => {
    const talk = await talkIn({})
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const reply = service.model.reply({ when: isSmall, text: [gate, suggestions] })
    const runId = await talk.ask('Rain?')
    await reply.arrived
    await talk.client.post(`/threads/${talk.threadId}/state`, { values: [{ type: 'human', content: 'More.' }] })
    open()
    await outcomeOf(runId)
    expect(await threadOf(talk)).toMatchObject({ name: 'New thread', follow_ups: [] })
  })

  it('is not asked in a temporary chat', async () => {
    const talk = await talkIn({ temporary: true })
    const before = service.model.requests.filter(isSmall).length
    expect(await outcomeOf(await talk.ask('Rain?'))).toBe('none')
    expect(service.model.requests.filter(isSmall)).toHaveLength(before)
  })

  it('is not asked about chats of an assistant with an account of its own', async () => {
    const open = { 'type==agent/access_mode': 'public_no_auth' }
    const talk = await talkIn({}, open)
    const account = { api_key: 'sk-own-key-of-this-assistant', base_url: service.model.env.OPENAI_BASE_URL }
    await talk.client.put(`/assistants/${talk.assistantId}/compat-account`, account)
    const before = service.model.requests.filter(isSmall).length
    expect(await outcomeOf(await talk.ask('Rain?'))).toBe('none')
    expect(service.model.requests.filter(isSmall)).toHaveLength(before)
  })

  it('is not asked for programs: completions, responses that are not stored, and public callers', async () => {
    const client = await insertUser(service)
    const before = service.model.requests.filter(isSmall).length
    const messages = [{ role: 'user', content: 'Rain?' }]
    await client.post('/v1/chat/completions', { model: 'm', messages })
    await client.post('/v1/responses', { model: 'm', input: 'Rain?', store: false })
    const open = { 'type==agent/access_mode': 'public_no_auth' }
    const { assistant_id: assistantId } = await client.post('/assistants/', { name: 'Open', config: open })
    const input = [{ type: 'human', content: 'Rain?' }]
    const answer = await client.fetch('POST', '/public/runs/stream', { assistant_id: assistantId, input })
    const runId = /"run_id":"([^"]+)"/.exec(await answer.text())?.[1] ?? ''
    const { thread_id: threadId } = (await service.collections.runs.findOne({ _id: runId }).lean()) ?? { thread_id: '' }
    expect(await isAsked(threadId, runId)).toBe(false)
    expect(service.model.requests.filter(isSmall)).toHaveLength(before)
  })

  it('may fail: the answer stays, and an attempt that was paid counts', async () => {
    const talk = await talkIn({})
    service.model.reply({ when: isSmall, status: 400 })
    const refused = await talk.ask('Rain?')
    expect(await outcomeOf(refused)).toBe('failed')
    expect(await talk.client.get(`/runs/${refused}`)).toMatchObject({ status: 'success', usage: { total_tokens: 3 } })

    service.model.reply({ when: isSmall, text: '<think>Rain', usage: { prompt_tokens: 7, completion_tokens: 3 } })
    const empty = await talk.ask('Rain?')
    expect(await outcomeOf(empty)).toBe('failed')
    expect(await talk.client.get(`/runs/${empty}`)).toMatchObject({ status: 'success', usage: { total_tokens: 13 } })
    expect(await threadOf(talk)).toMatchObject({ name: 'New thread', follow_ups: [] })
  })

  it('counts in the budget of the project, and is not asked when that is used up', async () => {
    const talk = await talkIn({})
    const path = `/projects/${talk.client.projectId}/budget`
    await talk.client.put(path, { tokens: 1_000_000 })
    await outcomeOf(await talk.ask('Rain?'))
    expect((await talk.client.get(path)).used).toMatchObject({ runs: 1, tokens: 103 })
    let open = () => {}
    const gate = new Promise<void>((resolve) => (open = resolve))
    const reply = service.model.reply({ when: (request) => !isSmall(request), text: [gate, 'Yes.'] })
    const { run_id: runId } = await talk.client.post('/runs/', { ...talk.payload('Rain?'), thread_id: talk.threadId })
    await reply.arrived
    await talk.client.put(path, { tokens: 100 })
    open()
    await talk.join(runId)
    expect(await outcomeOf(runId)).toBe('none')
  })
})
