import { expect, it } from 'vitest'
import { archiveOf } from '../support/archives.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { watchShardKeys } from '../support/shard-keys.ts'
import { conversation } from './support.ts'

/** What these runs ask of every shard: each service of the tests checks it by this list (`test/support/shard-keys.ts`). */
const asked = [
  'services/accounts/usage.ts runs.aggregate',
  'services/runs/index.ts runs.find',
  'services/runs/upkeep.ts runs.find',
]

const service = useModelService()

it('the whole life of a run asks only what is listed of every shard', async () => {
  const heard = watchShardKeys(service.databases, [])
  const talk = await conversation(service, {
    'type==agent/tools': [{ type: 'http_request' }],
    'type==agent/interrupt_before_action': true,
  })
  const thread = () => service.collections.threads.findOne({ _id: talk.threadId })
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
  await eventually('the end of the thread', async () => (await thread()) === null)
  // A statement of a test is not one of the product.
  await service.collections.runs.findOne({ user_id: talk.client.userId })

  const places = heard.unlisted().map((name) => name.split(' ').slice(0, 2).join(' '))
  expect([...new Set(places)]).toEqual(asked)
  expect(() => heard.check()).toThrow('services/runs/index.ts runs.find _id')
  expect(() => service.checkShardKeys()).not.toThrow()
})
