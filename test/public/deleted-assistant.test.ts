import { expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import { newPublicAssistant } from './public-assistant.ts'

const service = useModelService({ respond: () => ({ text: 'Hi' }) })

it('public requests during the deletion of their assistant leave nothing', async () => {
  const { id, token, owner } = await newPublicAssistant(service)
  const caller = apiClient(service.url, token)
  const messages = [{ role: 'user', content: 'Hi' }]
  const statuses = new Set<number>()
  let deleted = false
  const keepCalling = async (path: string, body: object) => {
    while (!deleted) {
      const response = await caller.fetch('POST', path, body)
      await response.text()
      statuses.add(response.status)
    }
  }
  const crowd = [
    ...[1, 2, 3].map(() => keepCalling('/public/v1/chat/completions', { model: 'm', messages })),
    ...[1, 2, 3].map(() => keepCalling('/public/v1/threads', { messages })),
    keepCalling('/public/v1/threads/runs', { assistant_id: id, thread: { messages } }),
    keepCalling('/public/runs/stream', { assistant_id: id, input: [{ type: 'human', content: 'Hi' }] }),
  ]
  await eventually('callers were served', () => statuses.has(200))
  await owner.fetch('DELETE', `/assistants/${id}`)
  await eventually(
    'the assistant is gone',
    async () => (await service.collections.assistants.exists({ _id: id })) === null,
  )
  deleted = true
  await Promise.all(crowd)

  const { threads, runs, checkpoints } = service.collections
  await eventually('nothing is left', async () => {
    const left = await Promise.all([
      threads.countDocuments({ assistant_id: id }),
      runs.countDocuments({ assistant_id: id }),
      checkpoints.countDocuments({}),
    ])
    return left.every((count) => count === 0)
  })
  expect(statuses).not.toContain(500)
  await caller.post('/public/v1/threads', {}, 401)
})
