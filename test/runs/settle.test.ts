import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { settleRun } from '../../services/runs/settle.ts'
import { conversation } from './support.ts'
import { useSharedService } from '../support/shared-service.ts'

describe('settling a run', () => {
  const service = useSharedService()

  /** A run whose tool call was never answered: settling has to close it. */
  async function unfinished() {
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({ toolCalls: [{ id: 'c1', name: 'http_request', arguments: {} }] })
    const { runId } = await talk.stream('Ask first')
    const { stepDeps } = service.api.platform.runs
    return { talk, runId, stepDeps, input: { threadId: talk.threadId, runId, step: 0, outcome: 'error' as const } }
  }

  it('ends a run whose thread has been deleted meanwhile', async () => {
    const { talk, runId, stepDeps, input } = await unfinished()
    await service.collections.threads.updateOne({ _id: talk.threadId }, { $set: { deleting: true } })
    expect(await settleRun(stepDeps, input)).toEqual({ status: 'error' })
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'error' })
  })

  it('returns nothing for a deleted run', async () => {
    const { stepDeps } = service.api.platform.runs
    const gone = { threadId: 'gone', runId: 'gone', step: 0, outcome: 'cancelled' as const }
    expect(await settleRun(stepDeps, gone)).toEqual({ status: 'cancelled' })
  })

  it('returns the status of a run that has already ended', async () => {
    const { talk, runId, stepDeps, input } = await unfinished()
    await talk.client.post(`/runs/${runId}/cancel`)
    expect(await settleRun(stepDeps, input)).toEqual({ status: 'cancelled' })
  })

  it('closes the calls of a run of whose first step the workflow does not know', async () => {
    // The worker died after the step was stored; another one read that the run was cancelled before it began.
    const { talk, runId, stepDeps, input } = await unfinished()
    await service.collections.runs.updateOne({ _id: runId }, { $set: { status: 'cancelled' } })
    await settleRun(stepDeps, { ...input, outcome: 'cancelled', neverBegan: true })
    expect(await service.collections.toolCalls.distinct('status', { run_id: runId })).toEqual(['done'])
    expect((await talk.messages()).map(({ type }) => type)).toEqual(['HumanMessage', 'AIMessage', 'ToolMessage'])
  })

  it('counts the answer of a process that died, as far as readers were shown it', async () => {
    const { talk, stepDeps } = await unfinished()
    const [runId, fence] = [newId(), 7]
    await service.collections.runs.create([
      {
        _id: runId,
        thread_id: talk.threadId,
        user_id: talk.client.userId,
        project_id: talk.client.projectId,
        assistant_id: talk.assistantId,
        acting: { person: 'owner', origin: 'chat' },
        public: false,
        status: 'running',
        input_json: '[]',
        overrides: {},
        fence,
        started_at: new Date(),
        created_at: new Date(),
      },
    ])
    const sent = { fence, model: 'scripted', prompt: 30 }
    await stepDeps.stream.publish(runId, fence, [
      { type: 'open' },
      { type: 'begin', id: `${runId}-0`, sent },
      { type: 'text', id: `${runId}-0`, text: 'x'.repeat(40) },
    ])
    const input = { threadId: talk.threadId, runId, step: 0, outcome: 'error' as const }
    await settleRun(stepDeps, input)
    await settleRun(stepDeps, input)
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({
      status: 'error',
      usage: { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 },
      spent: [{ model: 'scripted', step: 0, fence: 7 }],
    })
  })

  it('ends a run whose records cannot be read with endAnyway', async () => {
    const { runId, stepDeps, input } = await unfinished()
    const problem = new Error('these records cannot be read')
    const reported: unknown[] = []
    const broken = {
      ...stepDeps,
      log: {
        ...stepDeps.log,
        append: async () => {
          throw problem
        },
      },
      onError: (error: unknown) => void reported.push(error),
    }
    await expect(settleRun(broken, input)).rejects.toBe(problem)
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'interrupted' })
    expect(await settleRun(broken, input, { endAnyway: true })).toEqual({ status: 'error' })
    expect(reported).toEqual([problem])
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'error' })
  })
})
