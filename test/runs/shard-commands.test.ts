import { afterAll, beforeAll, expect, it } from 'vitest'
import { archiveOf } from '../support/archives.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { eventually } from '../support/eventually.ts'
import { serviceEnv } from '../support/service.ts'
import { conversation } from './support.ts'

/**
 * The commands that may ask every shard in the lives of these runs: what they do, with the members of their filters.
 * `test/shard-keys.test.ts` lists them by their places in the code; here the database hears what is really sent.
 */
const askEveryShard = new Set([
  // A run by its id alone.
  'runs find _id,user_id',
  // Runs that are due for a check, and those without a time of check.
  'runs find check_at',
  'runs update check_at,status',
  // Runs that a run has asked.
  'runs find asked_by.run_id,status',
  // Sums of the user.
  'runs aggregate imported,user_id',
  'runs aggregate created_at,imported,user_id',
  'runs aggregate created_at,imported,usage,user_id',
  'runs aggregate imported,usage_by_model,user_id',
])

interface Heard {
  command: string
  filter: Record<string, unknown>
}

/** The filters of a command on one of the two collections. */
function filtersOf(name: string, command: Record<string, any>): Heard[] {
  const collection: unknown = command[name]
  if (collection !== 'runs' && collection !== 'checkpoints') return []
  const heard = (filter: Record<string, unknown> = {}) => ({ command: `${collection} ${name}`, filter })
  switch (name) {
    case 'find':
      return [heard(command['filter'])]
    case 'findAndModify':
    case 'count':
      return [heard(command['query'])]
    case 'update':
      return command['updates'].map(({ q }: { q: Record<string, unknown> }) => heard(q))
    case 'delete':
      return command['deletes'].map(({ q }: { q: Record<string, unknown> }) => heard(q))
    case 'aggregate':
      return [heard(command['pipeline'][0]?.$match)]
    default:
      return []
  }
}

let service: ModelService
const heard: Heard[] = []

beforeAll(async () => {
  const env = serviceEnv()
  const uri = new URL(env['MONGODB_URI'] ?? '')
  uri.searchParams.set('monitorCommands', 'true')
  service = await startModelService({ env: { ...env, MONGODB_URI: uri.toString() } })
  for (const database of service.databases)
    database.getClient().on('commandStarted', ({ commandName, command }) => {
      heard.push(...filtersOf(commandName, command))
    })
})
afterAll(() => service.close())

it('the database is asked with the shard key in the whole life of a run', async () => {
  const talk = await conversation(service, {
    'type==agent/tools': [{ type: 'http_request' }],
    'type==agent/interrupt_before_action': true,
  })
  const call = (id: string) => ({ toolCalls: [{ id, name: 'http_request', arguments: {} }] })
  service.model.reply({ text: 'One.' })
  expect((await talk.stream('one')).end).toBe('end')
  service.model.reply(call('c1'))
  const waits = await talk.stream('two')
  expect(waits.end).toBe('end')
  expect(await talk.client.get(`/runs/${waits.runId}`)).toMatchObject({ status: 'interrupted' })
  await service.api.platform.runs.runUpkeep.sweep(() => Date.now() + 3600_000)
  service.model.reply({ text: 'Two.' })
  await talk.client.post(`/runs/${waits.runId}/resume`, { action: 'reject' })
  await eventually(
    'the end of the run',
    async () => (await talk.client.get(`/runs/${waits.runId}`)).status === 'success',
  )
  service.model.reply(call('c2'))
  const cancelled = await talk.stream('three')
  await talk.client.post(`/runs/${cancelled.runId}/cancel`)
  await talk.join(cancelled.runId)
  expect(await talk.messages()).not.toEqual([])
  await talk.client.get(`/threads/${talk.threadId}/history`)
  expect(await archiveOf(service, talk.client)).not.toHaveLength(0)
  await talk.client.get('/user/usage')
  await talk.client.fetch('DELETE', `/threads/${talk.threadId}`)
  const wanted = ['runs find', 'runs update', 'runs findAndModify', 'runs delete', 'checkpoints delete']
  await eventually('the statements of a deletion', () =>
    wanted.every((one) => heard.some(({ command }) => command === one)),
  )

  const without = heard
    .filter(({ filter }) => !carriesKey(filter['thread_id']))
    .map(({ command, filter }) => `${command} ${Object.keys(filter).toSorted().join(',')}`)
  expect([...new Set(without)].filter((one) => !askEveryShard.has(one))).toEqual([])
  expect(heard.length).toBeGreaterThan(40)
})

/** One thread, or a list of them: a range would ask every shard. */
function carriesKey(key: unknown): boolean {
  return typeof key === 'string' || (typeof key === 'object' && key !== null && '$in' in key)
}
