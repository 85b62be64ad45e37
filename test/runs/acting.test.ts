import { expect, it } from 'vitest'
import { type Acting, type ToolType, kindOf, toolRights } from '../../domain/acting.ts'
import { newId } from '../../domain/ids.ts'
import { personNamed } from '../../services/person-named.ts'
import { factsIn, recalled } from '../memory/support.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import type { ScriptedReply } from '../support/scripted-model.ts'
import { useSharedService } from '../support/shared-service.ts'
import { readRun } from './support.ts'

const service = useSharedService()

const [ada, bob] = [personNamed('ada'), personNamed('bob')]
const calls = (name: string, args: object): ScriptedReply => ({ toolCalls: [{ id: newId(), name, arguments: args }] })
const sentTools = () =>
  (service.model.requests.at(-1)?.body.tools ?? []).map(({ function: { name } }: any) => String(name))
const lastResult = () =>
  String(service.model.requests.at(-1)?.body.messages.findLast(({ role }: any) => role === 'tool')?.content)

/** An assistant that can be asked in every way, and one that it asks. Both have the tools that act for somebody. */
async function household() {
  const owned = [{ type: 'memory' }, { type: 'schedule' }, { type: 'client', name: 'of_client' }]
  const assistant = await newPublicAssistant(service)
  const { owner, id, token } = assistant
  const { assistant_id: helperId } = await owner.post('/assistants/', {
    name: 'Librarian',
    config: { 'type==agent/tools': owned },
  })
  const tools = [...owned, { type: 'http_request' }, { type: 'assistant', config: { assistant_ids: [helperId] } }]
  const shown = await owner.get(`/assistants/${id}`)
  await owner.put(`/assistants/${id}`, { ...shown, config: { ...shown.config, 'type==agent/tools': tools } })
  await service.collections.assistants.updateMany(
    { _id: { $in: [id, helperId] } },
    { $set: { schedules_approved: true } },
  )
  const stored = await service.collections.assistants.findById(id).lean()
  const { jwt_token: projectToken } = await owner.get(`/projects/${stored?.project_id}`)
  const v1 = apiClient(service.url, projectToken)
  const anybody = apiClient(service.url, token)
  const says = (content: string) => [{ role: 'user', content }]
  const human = (content: string) => [{ type: 'human', content }]
  const mcp = (bearer: string) => async (question: string) => {
    const response = await apiClient(service.url, bearer).fetch(
      'POST',
      `/mcp/${id}`,
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ask', arguments: { question } } },
      { accept: 'application/json, text/event-stream' },
    )
    expect(response.status).toBe(200)
    await response.text()
  }
  const native = async (question: string) => {
    const { thread_id } = await owner.post('/threads/', { name: 'Talk' })
    const run = await readRun(
      await owner.fetch('POST', '/runs/stream', { thread_id, assistant_id: id, input: human(question) }),
    )
    expect(run.end).toBe('end')
  }
  const publicRun = (caller: object) => async (question: string) => {
    const body = { assistant_id: id, input: human(question), ...caller }
    expect((await readRun(await anybody.fetch('POST', '/public/runs/stream', body))).end).toBe('end')
  }
  const completion = (user: object) => async (question: string) => {
    await v1.post('/v1/chat/completions', { model: id, messages: says(question), ...user })
  }
  const response = (user: object) => async (question: string) => {
    await v1.post('/v1/responses', { model: id, input: question, ...user })
  }
  return { ...assistant, helperId, projectToken, native, publicRun, completion, response, mcp }
}

type Household = Awaited<ReturnType<typeof household>>
type Ask = (question: string) => Promise<void>

/** Every way in which a run is started by a request, and who acts then. */
const ways: [string, Acting, (world: Household) => Ask][] = [
  ['the native API', { person: 'owner', origin: 'chat' }, ({ native }) => native],
  ['a completion of /v1', { person: 'owner', origin: 'chat' }, ({ completion }) => completion({})],
  [
    'a completion of /v1 for a person',
    { person: ada, origin: 'chat' },
    ({ completion }) => completion({ user: 'ada' }),
  ],
  [
    'a completion of /v1 with two names',
    { person: ada, origin: 'chat' },
    ({ completion }) => completion({ user: 'bob', safety_identifier: 'ada' }),
  ],
  ['a response', { person: 'owner', origin: 'chat' }, ({ response }) => response({})],
  [
    'a response for a person',
    { person: ada, origin: 'chat' },
    ({ response }) => response({ safety_identifier: 'ada' }),
  ],
  ['the public API', { person: 'nameless', origin: 'public' }, ({ publicRun }) => publicRun({})],
  ['the public API for a person', { person: ada, origin: 'public' }, ({ publicRun }) => publicRun({ user: 'ada' })],
  [
    'a public completion for a person',
    { person: bob, origin: 'public' },
    ({ token }) =>
      async (question) => {
        const messages = [{ role: 'user', content: question }]
        await apiClient(service.url, token).post('/public/v1/chat/completions', { model: 'm', messages, user: 'bob' })
      },
  ],
  ['MCP of the owner', { person: 'owner', origin: 'mcp' }, ({ mcp, projectToken }) => mcp(projectToken)],
  ['MCP of anybody', { person: 'nameless', origin: 'mcp' }, ({ mcp, token }) => mcp(token)],
]

const nameOf: Partial<Record<ToolType, string>> = { client: 'of_client' }
const offeredTo = ({ person, origin }: Acting, types: ToolType[]) =>
  types
    .filter((type) => toolRights[type][origin].includes(kindOf(person)))
    .map((type) => nameOf[type] ?? type)
    .toSorted()

it.each(ways)('a run by %s acts for who has asked, and so do the runs that it starts', async (_way, acting, way) => {
  const world = await household()
  const ask = way(world)
  service.model.reply(calls('assistant', { assistant: 'Librarian', question: 'What is new?' }))
  service.model.reply({ text: 'Nothing is new.' })
  service.model.reply({ text: 'So it is.' })
  const before = service.model.requests.length
  await ask('What is new?')
  const [first, below] = service.model.requests
    .slice(before)
    .map(({ body }) => (body.tools ?? []).map(({ function: { name } }: any) => String(name)).toSorted())
  expect(first).toEqual(offeredTo(acting, ['http_request', 'memory', 'schedule', 'client', 'assistant']))
  const asked: Acting = { person: acting.person, origin: 'asked' }
  expect(below).toEqual(offeredTo(asked, ['memory', 'schedule', 'client']))
  const actingOf = async (assistantId: string) =>
    (await service.collections.runs.find({ assistant_id: assistantId }).lean()).map((run) => run.acting)
  expect(await actingOf(world.id)).toEqual([acting])
  expect(await actingOf(world.helperId)).toEqual([asked])
})

it('keeps the facts of each person apart, also those that a helper has saved', async () => {
  const world = await household()
  const facts = () => factsIn(recalled(service)).map(({ text }) => text)
  const savesByHelper = (text: string) => {
    service.model.reply(calls('assistant', { assistant: 'Librarian', question: `Remember: ${text}` }))
    service.model.reply(calls('memory', { operation: 'save', text }))
    service.model.reply({ text: 'Saved.' })
    service.model.reply({ text: 'Saved.' })
  }
  savesByHelper('Ada likes tea.')
  // What is not kept saves no facts.
  await world.completion({ user: 'ada', store: true })('Remember that I like tea')
  savesByHelper('Olga owns this.')
  await world.native('Remember who I am')

  /** What the helper is given when somebody lets it be asked. */
  const helperFacts = async (ask: Ask) => {
    service.model.reply(calls('assistant', { assistant: 'Librarian', question: 'What do you know?' }))
    service.model.reply(calls('memory', { operation: 'find', query: 'tea owns likes' }))
    service.model.reply({ text: 'I know it.' })
    service.model.reply({ text: 'It knows.' })
    const before = service.model.requests.length
    await ask('What do you know of me?')
    const [, given] = service.model.requests.slice(before)
    const ofQuestion = given?.body.messages
      .filter(({ role }: any) => role === 'system')
      .map(({ content }: any) => String(content))
      .find((text: string) => text.includes('<memory_facts>'))
    const found = service.model.requests.slice(before)[2]?.body.messages.findLast(({ role }: any) => role === 'tool')
    return { recalled: factsIn(ofQuestion).map(({ text }) => text), found: String(found?.content) }
  }
  const adas = await helperFacts(world.completion({ user: 'ada' }))
  expect(adas.recalled).toEqual(['Ada likes tea.'])
  expect(adas.found).toContain('Ada likes tea.')
  expect(adas.found).not.toContain('Olga')
  for (const ask of [world.completion({ user: 'bob' }), world.publicRun({ user: 'bob' })]) {
    const bobs = await helperFacts(ask)
    expect(bobs).toEqual({ recalled: [], found: 'There are no such facts.' })
  }
  const owners = await helperFacts(world.native)
  expect(owners.recalled).toEqual(['Olga owns this.'])
  expect(owners.found).not.toContain('Ada')
  // A caller whom nobody names has no memory at all.
  const nobody = await helperFacts(world.publicRun({}))
  expect(nobody).toEqual({ recalled: [], found: 'There is no tool called memory.' })
  service.model.reply({ text: 'Hello.' })
  await world.completion({ user: 'ada' })('Hello')
  expect(facts()).toEqual([])
})

it('keeps the schedules of each person apart, and runs them for this person', async () => {
  const world = await household()
  const daily = (question: string) => ({ action: 'create', question, cron: '0 7 1 1 *' })
  const told = async (ask: Ask, args: object) => {
    service.model.reply(calls('schedule', args))
    service.model.reply({ text: 'Done.' })
    await ask('Please')
    return lastResult()
  }
  const byAda = world.completion({ user: 'ada', store: true })
  const byBob = world.response({ user: 'bob' })
  const { created: adas } = JSON.parse(await told(byAda, daily('What is new for Ada?')))
  const { created: owners } = JSON.parse(await told(world.native, daily('What is new for the owner?')))
  const idsOf = async (ask: Ask) =>
    JSON.parse(await told(ask, { action: 'list' })).schedules.map((one: any) => one.schedule_id)
  expect(await idsOf(byAda)).toEqual([adas.schedule_id])
  expect(await idsOf(byBob)).toEqual([])
  expect(await idsOf(world.native)).toEqual([owners.schedule_id])
  expect(await idsOf(world.mcp(world.projectToken))).toEqual([owners.schedule_id])
  for (const [ask, id] of [
    [byBob, adas.schedule_id],
    [byBob, owners.schedule_id],
    [byAda, owners.schedule_id],
    [world.native, adas.schedule_id],
  ] as const)
    expect(await told(ask, { action: 'cancel', schedule_id: id })).toContain('has made no such schedule')

  // It counts for the owner, who sees it; it runs for Ada, with her facts and the rights of a schedule.
  expect((await world.owner.get('/schedules/')).schedules).toHaveLength(2)
  service.model.reply(calls('memory', { operation: 'save', text: 'Ada likes tea.' }))
  service.model.reply({ text: 'Saved.' })
  await byAda('Remember that I like tea')
  service.model.reply({ text: 'Nothing.' })
  await world.owner.post(`/schedules/${adas.schedule_id}/trigger`)
  await eventually('the end of the run', async () => {
    const { runs } = await world.owner.get(`/schedules/${adas.schedule_id}/runs`)
    return runs.length === 1 && runs[0].finished_at !== null && runs
  })
  expect(factsIn(recalled(service)).map(({ text }) => text)).toEqual(['Ada likes tea.'])
  const acting: Acting = { person: ada, origin: 'scheduled' }
  expect(sentTools().toSorted()).toEqual(
    offeredTo(acting, ['http_request', 'memory', 'schedule', 'client', 'assistant']),
  )
  expect((await service.collections.runs.findOne({ schedule_id: adas.schedule_id }).lean())?.acting).toEqual(acting)
  expect(await told(byAda, { action: 'cancel', schedule_id: adas.schedule_id })).toContain('cancelled')
})

it('takes nothing about who acts from a request', async () => {
  const { owner, id } = await household()
  const schedule = await owner.post('/schedules/', {
    assistant_id: id,
    input: [{ type: 'human', content: 'What is new?' }],
    cron: '0 7 1 1 *',
    made_by: 'assistant',
    person: bob,
  })
  expect(schedule.made_by).toBeNull()
  expect(await service.collections.schedules.findById(schedule.schedule_id).lean()).toMatchObject({ person: 'owner' })
})
