import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { suggestionContract } from '../../domain/contracts/suggestion.ts'
import { suggestionLimits } from '../../services/runs/suggestions/index.ts'
import { startLlamaServer } from '../model/dialects/llama-server.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { installTimeoutMs } from '../support/python-packages.ts'

let folder: string
let llama: Awaited<ReturnType<typeof startLlamaServer>>
let service: ModelService
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'llama-'))
  llama = await startLlamaServer(path.join(folder, 'chat.gguf'), 'chat')
  const server = { name: 'llama.cpp', base_url: `${llama.url}/v1`, models: [{ id: 'tiny' }] }
  service = await startModelService({
    respond: () => ({ text: 'High water is at noon.', usage: { prompt_tokens: 2, completion_tokens: 1 } }),
    env: { SMALL_MODEL: 'tiny', MODELS: JSON.stringify({ providers: [server] }) },
  })
}, installTimeoutMs)
afterAll(async () => {
  await service.close()
  await llama.kill()
  await rm(folder, { recursive: true, force: true })
})

/** Its model has random weights: what it writes is nothing that anybody would suggest, and must do no harm. */
it('a server of llama.cpp is asked as the small model; whatever it writes is bounded, and what it counts is counted', async () => {
  const talk = await conversation(service)
  for (let round = 0; round < 5; round++) {
    const { thread_id: threadId } = await talk.client.post('/threads/', {})
    const { run_id: runId } = await talk.client.post('/runs/', { ...talk.payload('When?'), thread_id: threadId })
    expect((await talk.join(runId)).end).toBe('end')
    const handle = service.temporal.workflow.getHandle(suggestionContract.id({ runId }))
    await eventually('the workflow', () => handle.describe())
    expect(['suggested', 'failed']).toContain(await handle.result())
    const { usage, usage_by_model: byModel, status } = (await service.collections.runs.findById(runId).lean()) ?? {}
    expect(status).toBe('success')
    expect(usage?.total_tokens).toBeGreaterThan(50)
    expect(byModel?.map(({ model }) => model).toSorted()).toEqual(['scripted', 'tiny'])
    const { name, follow_ups: questions } = await talk.client.get(`/threads/${threadId}`)
    expect(name.length).toBeLessThanOrEqual(suggestionLimits.title)
    expect(questions.length).toBeLessThanOrEqual(suggestionLimits.questions)
    for (const text of [name, ...questions]) {
      expect(text.length).toBeLessThanOrEqual(suggestionLimits.question)
      expect(text).not.toMatch(/[\n\r<>`*#]/)
    }
  }
}, 300_000)
