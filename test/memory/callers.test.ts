import { expect, it } from 'vitest'
import { memorySpaces } from '../../domain/memory/memory-scope.ts'
import { memoryLimits } from '../../domain/records/memory.ts'
import { countVectors } from '../../services/knowledge/vector-spaces.ts'
import { callerHash } from '../../services/memory/same-text.ts'
import { personNamed } from '../../services/person-named.ts'
import { newPublicAssistant } from '../public/public-assistant.ts'
import { readRun } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { useSharedService } from '../support/shared-service.ts'
import { call, factsIn, recalled, withMemory } from './support.ts'

const service = useSharedService()

const offersMemory = () => JSON.stringify(service.model.requests.at(-1)?.body.tools ?? []).includes('"memory"')
const factsOf = (assistantId: string) => service.collections.memories.find({ assistant_id: assistantId }).lean()

async function publicMemory() {
  const assistant = await newPublicAssistant(service, { config: withMemory({ scope: 'project' }) })
  const stored = await service.collections.assistants.findById(assistant.id).lean()
  const anybody = apiClient(service.url, assistant.token)
  return {
    ...assistant,
    userId: stored?.user_id ?? '',
    projectId: stored?.project_id ?? '',
    anybody,
    /** Asks as a caller; the facts that the model was given. */
    async ask(caller: object, ...calls: object[]) {
      if (calls.length > 0) service.model.reply(call(...calls))
      service.model.reply({ text: 'Hello.' })
      const body = { assistant_id: assistant.id, input: [{ type: 'human', content: 'What do you know?' }], ...caller }
      const run = await readRun(await anybody.fetch('POST', '/public/runs/stream', body))
      expect(run.end).toBe('end')
      return factsIn(recalled(service)).map(({ text }) => text)
    },
    /** The same by the compat family. */
    async complete(caller: object) {
      service.model.reply({ text: 'Hello.' })
      const messages = [{ role: 'user', content: 'What do you know?' }]
      await anybody.post('/public/v1/chat/completions', { model: 'm', messages, ...caller })
      return factsIn(recalled(service)).map(({ text }) => text)
    },
  }
}

it('is of each caller who says a name, and of nobody else', async () => {
  const { id, owner, projectId, anybody, ask, complete } = await publicMemory()
  await owner.post('/memory/', { text: 'The owner is called Olga.' })
  await owner.post('/memory/', { text: 'The assistant is for guests.', assistant_id: id })

  // Without a name there is no memory.
  expect(await ask({})).toEqual([])
  expect(offersMemory()).toBe(false)
  expect(await ask({ user: '' }, { operation: 'save', text: 'Nobody was here.' })).toEqual([])
  expect(await factsOf(id)).toHaveLength(1)

  expect(await ask({ user: 'ada' }, { operation: 'save', text: 'Ada likes tea.' })).toEqual(['Ada likes tea.'])
  expect(offersMemory()).toBe(true)
  expect(await ask({ user: 'bob' }, { operation: 'save', text: 'Bob likes cocoa.' })).toEqual(['Bob likes cocoa.'])
  expect(await ask({ user: 'ada' })).toEqual(['Ada likes tea.'])
  expect(await complete({ user: 'ada' })).toEqual(['Ada likes tea.'])
  expect(await complete({ safety_identifier: 'bob' })).toEqual(['Bob likes cocoa.'])
  expect(await complete({})).toEqual([])
  // The name is not passed on: the model's server is the owner's.
  expect(JSON.stringify(service.model.requests.map(({ body }) => body))).not.toContain('"user":"ada"')
  service.model.reply({ text: 'Hello.' })
  await anybody.post('/public/v1/threads/runs', {
    assistant_id: id,
    thread: { messages: [{ role: 'user', content: 'Hi' }] },
    user: 'bob',
    stream: false,
  })
  await expect.poll(() => factsIn(recalled(service)).map(({ text }) => text)).toEqual(['Bob likes cocoa.'])
  // The same name elsewhere is somebody else, and each forgets only the own.
  const other = await publicMemory()
  expect(await other.ask({ user: 'ada' })).toEqual([])
  const [adas] = await owner.get(`/memory/?assistant_id=${id}&user=ada`)
  await ask({ user: 'bob' }, { operation: 'forget', memory_id: adas.memory_id })
  expect(await ask({ user: 'ada' })).toEqual(['Ada likes tea.'])

  // The owner's runs, lists and archive are without them, unless the owner asks for a caller.
  const texts = (facts: any[]) => facts.map(({ text }) => text)
  expect(texts(await owner.get('/memory/'))).toEqual(['The assistant is for guests.', 'The owner is called Olga.'])
  expect(texts(await owner.get(`/memory/?assistant_id=${id}`))).toEqual(['The assistant is for guests.'])
  expect(adas).toMatchObject({ text: 'Ada likes tea.', assistant_id: id })
  expect(new Date(adas.expires_at).getTime() - new Date(adas.created_at).getTime()).toBe(
    memoryLimits.callerDays * 86_400_000,
  )
  expect((await owner.call('GET', '/memory/?user=ada')).status).toBe(422)
  expect((await owner.call('PATCH', `/memory/${adas.memory_id}`, { project_id: null })).status).toBe(422)
  const { thread_id } = await owner.post('/threads/', { name: 'Own' })
  service.model.reply({ text: 'Hello.' })
  const input = [{ type: 'human', content: 'What do you know?' }]
  await readRun(await owner.fetch('POST', '/runs/stream', { thread_id, assistant_id: id, input }))
  expect(factsIn(recalled(service)).map(({ text }) => text)).toEqual([
    'The assistant is for guests.',
    'The owner is called Olga.',
  ])
  // An application on /v1 that names its users keeps their facts apart, too.
  const { jwt_token: token } = await owner.get(`/projects/${projectId}`)
  service.model.reply({ text: 'Hello.' })
  await apiClient(service.url, token).post('/v1/chat/completions', {
    model: id,
    messages: [{ role: 'user', content: 'Hi' }],
    user: 'ada',
  })
  expect(factsIn(recalled(service)).map(({ text }) => text)).toEqual(['Ada likes tea.'])

  // All of it goes with the assistant, and the receipt counts it.
  const space = memorySpaces({ kind: 'caller', id })
  expect(await countVectors(service.api.infra.knowledge.vectors, space)).toBe(2)
  await owner.call('DELETE', `/assistants/${id}`)
  const found = async () => (await service.collections.receipts.findOne({ subject_id: id }).lean())?.status
  await expect.poll(found).toBe('complete')
  const receipt = await service.collections.receipts.findOne({ subject_id: id }).lean()
  expect(receipt).toMatchObject({ found: { memories: 3, memory_vectors: 3 }, left: { memories: 0, memory_vectors: 0 } })
  expect(await factsOf(id)).toEqual([])
  expect(await countVectors(service.api.infra.knowledge.vectors, space)).toBe(0)
  expect((await owner.get('/memory/')).map((fact: any) => fact.text)).toEqual(['The owner is called Olga.'])
})

it('has a limit for each caller, and is deleted when its time is over', async () => {
  const { id, userId, ask } = await publicMemory()
  const caller = callerHash(id, personNamed('ada'))
  const now = Date.now()
  const fact = (place: number, expires: number) => ({
    _id: `${id}-${place}`,
    user_id: userId,
    scope: `caller/${id}/${caller}`,
    assistant_id: id,
    caller,
    text: `Fact ${place}`,
    text_hash: `${place}`,
    made_by: 'assistant' as const,
    expires_at: new Date(expires),
    created_at: new Date(now),
    updated_at: new Date(now),
  })
  const { memories } = service.collections
  await memories.insertMany(Array.from({ length: memoryLimits.ofCaller }, (_, place) => fact(place, now + 60_000)))
  await ask({ user: 'ada' }, { operation: 'save', text: 'One more.' })
  expect(JSON.stringify(service.model.requests.at(-1)?.body.messages)).toContain('Forget one first')
  await memories.deleteMany({ assistant_id: id, _id: { $ne: `${id}-0` } })
  expect(await ask({ user: 'ada' })).toEqual(['Fact 0'])
  // Hidden at once, removed by the next round of a worker.
  await memories.updateOne({ _id: `${id}-0` }, { $set: { expires_at: new Date(now - 1) } })
  expect(await ask({ user: 'ada' })).toEqual([])
  await service.worker?.platform.core.memory.sweep()
  expect(await factsOf(id)).toEqual([])
})
