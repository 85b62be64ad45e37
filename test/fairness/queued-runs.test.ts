import { describe, expect, it } from 'vitest'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { useModelService } from '../support/model-service.ts'
import type { ChatRequest } from '../support/scripted-model.ts'
import { type TestUser, insertUser } from '../support/users.ts'

/** `QUEUED_RUNS=1000 npm test -- test/fairness` queues as many as an impatient user would. */
const queued = Number(process.env['QUEUED_RUNS'] ?? 30)
const atOnce = 2

interface Waiting {
  question: string
  answer: () => void
}

/** A model that answers a request when it is told to. */
function heldModel() {
  const asked: Waiting[] = []
  return {
    asked,
    respond: ({ body }: ChatRequest) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      asked.push({ question: String(body.messages.at(-1)?.content), answer: resolve })
      return { after: promise, text: 'An answer.' }
    },
  }
}

describe(`a user with ${queued} queued runs`, { timeout: 120_000 + queued * 1_000 }, () => {
  const model = heldModel()
  const service = useModelService({
    // A busy machine must not let the tasks of held steps time out: their repetitions would ask the model again.
    settings: { modelStepsAtOnce: atOnce, runTaskTimeoutSeconds: 10 },
    respond: model.respond,
  })

  async function ask(user: TestUser, question: string): Promise<string> {
    const client = apiClient(service.url, user.token)
    const { thread_id } = await client.post('/threads/', {})
    const { assistant_id } = await client.post('/assistants/', { name: 'Helper' })
    const input = [{ type: 'human', content: question }]
    return (await client.post('/runs/', { thread_id, assistant_id, input })).run_id
  }

  it('delays another user by at most one run', async () => {
    const busy = await insertUser(service, { threadMax: queued })
    const other = await insertUser(service)
    const runs: string[] = []
    for (let index = 0; index < queued; index++) runs.push(await ask(busy, `busy ${index}`))
    await eventually('the model to be asked', () => model.asked.length === atOnce)

    const late = await ask(other, 'late')
    let answered = 0
    const answerNext = async () => {
      await eventually(`request ${answered} of the model`, () => model.asked.length > answered)
      model.asked[answered++]?.answer()
    }
    // One unit's time: those at work end. The same once more for what was under way when the late run was stored.
    for (let count = 0; count < 2 * atOnce; count++) await answerNext()
    await eventually('the model to be asked again', () => model.asked.length === 3 * atOnce)
    expect(model.asked.map(({ question }) => question)).toContain('late')

    while (answered < queued + 1) await answerNext()
    await eventually('all runs to end', async () => {
      const ended = await service.collections.runs.countDocuments({ _id: { $in: [...runs, late] }, status: 'success' })
      return ended === queued + 1
    })
  })
})
