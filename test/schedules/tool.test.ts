import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { useModelService } from '../support/model-service.ts'
import { backfill, everyTenMinutes } from './support.ts'

const withTool = { 'type==agent/tools': [{ type: 'schedule' }] }
const daily = { action: 'create', question: 'What is new today?', cron: '0 7 * * *', timezone: 'Europe/Berlin' }

describe('the tool `schedule`', () => {
  const service = useModelService()
  const offered = () =>
    (service.model.requests.at(-1)?.body.tools ?? []).map(({ function: { name } }: any) => String(name))
  const call = (args: object) => ({ toolCalls: [{ id: newId(), name: 'schedule', arguments: args }] })
  type Talk = Awaited<ReturnType<typeof conversation>>
  const statusOf = async ({ client }: Talk, { runId }: { runId: string }) => (await client.get(`/runs/${runId}`)).status

  /** What the model is told after it called the tool with these arguments. */
  async function told(talk: Talk, args: object) {
    service.model.reply(call(args))
    service.model.reply({ text: 'Done.' })
    const run = await talk.stream('Please')
    expect(run.end).toBe('end')
    return String(run.messages.find(({ type }) => type === 'ToolMessage')?.data.content)
  }

  /** Lets the assistant call the tool, and a person decide about it; returns what the model is told. */
  async function decided(talk: Talk, args: object, decision: object) {
    service.model.reply(call(args))
    const run = await talk.stream('Every morning, please')
    expect(await statusOf(talk, run)).toBe('interrupted')
    service.model.reply({ text: 'Done.' })
    await talk.client.post(`/runs/${run.runId}/resume`, decision)
    await expect.poll(() => statusOf(talk, run)).toBe('success')
    return String((await talk.messages()).findLast(({ type }) => type === 'ToolMessage').data.content)
  }
  const listOf = async ({ client }: Talk) => (await client.get('/schedules/')).schedules

  it('is not offered unless the configuration names it', async () => {
    const talk = await conversation(service)
    service.model.reply({ text: 'Hello' })
    await talk.stream('Hello')
    expect(offered()).toEqual([])
  })

  it('makes a schedule for its owner, who approves the first', async () => {
    const talk = await conversation(service, withTool)
    expect(await decided(talk, daily, { action: 'reject', message: 'Not now.' })).toContain('did not allow')
    expect(await listOf(talk)).toEqual([])
    // A rejection approves nothing: the next one waits again.
    const text = await decided(talk, daily, { action: 'approve' })
    const [schedule] = await listOf(talk)
    expect(JSON.parse(text)).toMatchObject({
      created: { schedule_id: schedule.schedule_id, question: daily.question, can_be_cancelled_here: true },
    })
    expect(schedule).toMatchObject({
      assistant_id: talk.assistantId,
      cron: '0 7 * * *',
      timezone: 'Europe/Berlin',
      thread_id: null,
      mail_result: false,
      made_by: 'assistant',
      input: [{ type: 'HumanMessage', data: { content: daily.question } }],
    })
    const described = await service.temporal.schedule.getHandle(`schedule/${schedule.schedule_id}`).describe()
    expect(described.state.paused).toBe(false)

    const second = await told(talk, { ...daily, question: 'And the weather?', in_this_conversation: true })
    expect(JSON.parse(second).created.question).toBe('And the weather?')
    expect((await listOf(talk))[0]).toMatchObject({ thread_id: talk.threadId })
    // Each assistant asks for itself.
    const other = await conversation(service, withTool)
    service.model.reply(call(daily))
    expect(await statusOf(other, await other.stream('Please'))).toBe('interrupted')
  })

  it('is executed with the arguments that the owner changed', async () => {
    const talk = await conversation(service, withTool)
    await decided(talk, { ...daily, cron: '* * * * *' }, { action: 'edit', args: { ...daily, cron: '0 9 * * 1' } })
    expect(await listOf(talk)).toMatchObject([{ cron: '0 9 * * 1' }])
  })

  it('lists the schedules of its assistant, and cancels only what it has made', async () => {
    const talk = await conversation(service, withTool)
    await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { schedules_approved: true } })
    const own = await talk.client.post('/schedules/', {
      assistant_id: talk.assistantId,
      input: [{ type: 'human', content: 'By me' }],
      interval_seconds: 3600,
      note: 'Mine',
    })
    const { created } = JSON.parse(await told(talk, daily))
    const { schedules } = JSON.parse(await told(talk, { action: 'list' }))
    expect(schedules).toMatchObject([
      { schedule_id: created.schedule_id, can_be_cancelled_here: true },
      { schedule_id: own.schedule_id, note: 'Mine', can_be_cancelled_here: false },
    ])
    expect(schedules[0].next_times).toHaveLength(3)
    const stranger = await conversation(service, withTool)
    for (const id of [own.schedule_id, 'nothing'])
      expect(await told(talk, { action: 'cancel', schedule_id: id })).toContain('has made no such schedule')
    expect(await told(stranger, { action: 'cancel', schedule_id: created.schedule_id })).toContain('no such schedule')
    expect(await told(talk, { action: 'cancel', schedule_id: created.schedule_id })).toContain('cancelled')
    expect(await listOf(talk)).toMatchObject([{ schedule_id: own.schedule_id }])
    expect(JSON.parse(await told(stranger, { action: 'list' }))).toEqual({ schedules: [] })
  })

  it.each([
    [{ ...daily, question: undefined }, '`question`'],
    [{ ...daily, cron: '60 * * * *' }, '`cron`'],
    [{ ...daily, at: '2099-01-01T00:00:00Z' }, '`at`'],
    [{ ...daily, timezone: 'Europe/Nowhere' }, '`timezone`'],
    [{ ...daily, cron: undefined, at: 'tomorrow' }, '`at`'],
    [{ ...daily, max_runs: 0 }, 'max_runs'],
    [{ ...daily, mail_result: true }, 'additional properties'],
    [{ action: 'cancel' }, '`schedule_id`'],
    [{ action: 'delete' }, 'action'],
  ])('tells the model what is wrong with %j', async (args, words) => {
    const talk = await conversation(service, withTool)
    await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { schedules_approved: true } })
    expect(await told(talk, args)).toContain(words)
    expect(await listOf(talk)).toEqual([])
  })

  it('makes no more than its owner may have', async () => {
    const talk = await conversation(service, withTool)
    await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { schedules_approved: true } })
    for (let count = 0; count < service.settings.scheduleMaxDefault; count++)
      await talk.client.post('/schedules/', {
        assistant_id: talk.assistantId,
        input: [{ type: 'human', content: 'x' }],
        interval_seconds: 3600,
      })
    expect(await told(talk, daily)).toContain('as many as it may have')
  })

  it('is not there for runs that a schedule started, also when they were triggered', async () => {
    const talk = await conversation(service, withTool)
    await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { schedules_approved: true } })
    const { created } = JSON.parse(await told(talk, { ...daily, cron: everyTenMinutes, timezone: 'UTC' }))
    expect(offered()).toEqual(['schedule'])
    const path = `/schedules/${created.schedule_id}`
    const endedRuns = async () =>
      (await talk.client.get(`${path}/runs`)).runs.filter((run: any) => run.finished_at !== null)
    // The model calls it all the same.
    for (const start of [
      () => talk.client.post(`${path}/trigger`),
      () => backfill(service, created.schedule_id, new Date('2026-03-01T10:00:00Z'), new Date('2026-03-01T10:00:00Z')),
    ]) {
      const before = (await endedRuns()).length
      service.model.reply(call(daily))
      service.model.reply({ text: 'I could not.' })
      await start()
      await expect.poll(async () => (await endedRuns()).length, { timeout: 30_000 }).toBe(before + 1)
      expect(offered()).toEqual([])
      const toldModel = service.model.requests.at(-1)?.body.messages.at(-1)?.content
      expect(toldModel).toBe('There is no tool called schedule.')
    }
    expect(await listOf(talk)).toHaveLength(1)
  })

  it('is not there for public callers', async () => {
    const token = `pt-${newId()}`
    const talk = await conversation(service, {
      ...withTool,
      'type==agent/access_mode': 'public_token',
      'type==agent/public_token': token,
    })
    await service.collections.assistants.updateOne({ _id: talk.assistantId }, { $set: { schedules_approved: true } })
    service.model.reply(call(daily))
    service.model.reply({ text: 'I could not.' })
    const { status } = await apiClient(service.url, token).call('POST', '/public/compat/v1/chat/completions', {
      model: 'any',
      messages: [{ role: 'user', content: 'Every morning, please' }],
    })
    expect(status).toBe(200)
    expect(offered()).toEqual([])
    expect(await listOf(talk)).toEqual([])
  })

  it('makes one schedule when a step is repeated after a crash', async () => {
    const talk = await conversation(service, withTool)
    const { schedules } = service.api.services
    const assistant = await service.collections.assistants.findById(talk.assistantId).lean<AssistantRecord>()
    if (assistant === null) throw new Error('there is no assistant')
    const { tools } = await service.api.services.tools.resolve(assistant, new AbortController().signal, {
      acting: { person: 'owner', origin: 'chat' },
    })
    const tool = tools.find(({ name }) => name === 'schedule')
    const facts = { key: `${newId()}/0/0`, threadId: talk.threadId, isApproved: true }
    const attempt = async () => {
      const answer = await tool?.execute(daily, { signal: new AbortController().signal, call: facts })
      return typeof answer === 'string' ? answer : ''
    }
    const [first, second] = await Promise.all([attempt(), attempt()])
    expect(JSON.parse(second).created.schedule_id).toBe(JSON.parse(first).created.schedule_id)
    expect(await attempt()).toBe(first)
    const range = { limit: 10, offset: 0 }
    expect(
      (await schedules.list({ userId: talk.client.userId, projectId: talk.client.projectId }, range)).entries,
    ).toHaveLength(1)
  })

  it('can be tried by the owner, which approves nothing for later', async () => {
    const talk = await conversation(service, withTool)
    const tried = await talk.client.post(`/assistants/${talk.assistantId}/tools/try`, { name: 'schedule', args: daily })
    expect(tried).toMatchObject({ outcome: 'answered' })
    expect(await listOf(talk)).toHaveLength(1)
    service.model.reply(call(daily))
    expect(await statusOf(talk, await talk.stream('Please'))).toBe('interrupted')
  })
})
