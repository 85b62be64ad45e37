import { describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { messagesToJson } from '../../domain/messages.ts'
import { type RunRecord, isUntouched } from '../../domain/records/run.ts'
import { publishedSoFar } from '../../services/runs/attempts.ts'
import { finalizeRun } from '../../services/runs/finalize.ts'
import { modelStep } from '../../services/runs/model-step.ts'
import { useSharedService } from '../support/shared-service.ts'
import { conversation } from './support.ts'

type Conversation = Awaited<ReturnType<typeof conversation>>

const humanJson = (content: string) => messagesToJson([{ type: 'HumanMessage', data: { id: newId(), content } }])

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

  /** A run on the thread on which no workflow works. */
  async function stored(
    { threadId, client, assistantId }: Conversation,
    members: Pick<RunRecord, 'fence'> & Partial<RunRecord>,
  ) {
    const run: RunRecord = {
      _id: newId(),
      thread_id: threadId,
      user_id: client.userId,
      project_id: client.projectId,
      assistant_id: assistantId,
      acting: { person: 'owner', origin: 'chat' },
      public: false,
      status: 'running',
      input_json: '[]',
      overrides: {},
      started_at: new Date(),
      created_at: new Date(),
      ...members,
    }
    await service.collections.runs.create([run])
    return { runId: run._id, run }
  }

  it('ends a run whose thread has been deleted meanwhile', async () => {
    const { talk, runId, stepDeps, input } = await unfinished()
    await service.collections.threads.updateOne({ _id: talk.threadId }, { $set: { deleting: true } })
    expect(await finalizeRun(stepDeps, input)).toEqual({ status: 'error' })
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'error' })
  })

  it('returns nothing for a deleted run', async () => {
    const { stepDeps } = service.api.platform.runs
    const gone = { threadId: 'gone', runId: 'gone', step: 0, outcome: 'cancelled' as const }
    expect(await finalizeRun(stepDeps, gone)).toEqual({ status: 'cancelled' })
  })

  it('returns the status of a run that has already ended', async () => {
    const { talk, runId, stepDeps, input } = await unfinished()
    await talk.client.post(`/runs/${runId}/cancel`)
    expect(await finalizeRun(stepDeps, input)).toEqual({ status: 'cancelled' })
  })

  it('closes the calls of a run of whose first step the workflow does not know', async () => {
    // The worker died after the step was stored; another one read that the run was cancelled before it began.
    const { talk, runId, stepDeps, input } = await unfinished()
    await service.collections.runs.updateOne({ _id: runId }, { $set: { status: 'cancelled' } })
    await finalizeRun(stepDeps, { ...input, outcome: 'cancelled', neverBegan: true })
    expect(await service.collections.toolCalls.distinct('status', { run_id: runId })).toEqual(['done'])
    expect((await talk.messages()).map(({ type }) => type)).toEqual(['HumanMessage', 'AIMessage', 'ToolMessage'])
  })

  it('counts the answer of a process that died, as far as readers were shown it', async () => {
    const { talk, stepDeps } = await unfinished()
    const fence = 7
    const { runId } = await stored(talk, { fence })
    const sent = { fence, model: 'scripted', prompt: 30 }
    await stepDeps.stream.publish(runId, fence, [
      { type: 'open' },
      { type: 'begin', id: `${runId}-0`, sent },
      { type: 'text', id: `${runId}-0`, text: 'x'.repeat(40) },
    ])
    const input = { threadId: talk.threadId, runId, step: 0, outcome: 'error' as const }
    await finalizeRun(stepDeps, input)
    await finalizeRun(stepDeps, input)
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({
      status: 'error',
      usage: { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 },
      spent: [{ model: 'scripted', step: 0, fence: 7 }],
    })
  })

  it('counts what a process had asked that died before the first token, and what a model refused not', async () => {
    const { talk, stepDeps } = await unfinished()
    const [asking, refused] = [await stored(talk, { fence: 7 }), await stored(talk, { fence: 7 })]
    for (const { runId } of [asking, refused])
      await stepDeps.stream.publish(runId, 7, [
        { type: 'open' },
        { type: 'begin', id: `${runId}-0`, sent: { fence: 6, model: 'scripted', prompt: 20 } },
        { type: 'text', id: `${runId}-0`, text: 'x'.repeat(40) },
        { type: 'asked', id: `${runId}-0`, sent: { fence: 7, model: 'scripted', prompt: 30 } },
      ])
    await stepDeps.stream.publish(refused.runId, 7, [{ type: 'asked', id: `${refused.runId}-0` }])
    for (const { runId } of [asking, refused])
      await finalizeRun(stepDeps, { threadId: talk.threadId, runId, step: 0, outcome: 'error' })
    expect(await service.collections.runs.findById(asking.runId).lean()).toMatchObject({
      usage: { prompt_tokens: 30, completion_tokens: 0, total_tokens: 30 },
      spent: [{ model: 'scripted', step: 0, fence: 7 }],
    })
    expect((await service.collections.runs.findById(refused.runId).lean())?.usage).toBeUndefined()
  })

  it('tells what it asks before the first token', async () => {
    const { talk, stepDeps } = await unfinished()
    const { runId, run } = await stored(talk, { fence: 1, input_json: humanJson('Are you there?') })
    const gate = Promise.withResolvers<void>()
    const reply = service.model.reply({ text: 'Yes.', after: gate.promise })
    const live = stepDeps.liveRuns.claimed(run, { step: 0, isFresh: true })
    const step = modelStep(stepDeps, live)
    await reply.arrived
    const view = () => publishedSoFar(stepDeps, runId)
    await expect.poll(async () => (await view()).asked).toMatchObject({ id: `${runId}-0`, sent: { fence: 1 } })
    expect((await view()).messages.size).toBe(0)
    gate.resolve()
    expect(await step).toEqual({ next: 'done' })
  })

  it('counts an answer once that was stored, and of which readers were not told that it is whole', async () => {
    const { runId, stepDeps, input } = await unfinished()
    const { fence = 0 } = (await service.collections.runs.findById(runId).lean()) ?? {}
    await stepDeps.stream.publish(runId, fence, [
      { type: 'begin', id: `${runId}-0`, sent: { fence, model: 'scripted', prompt: 30 } },
      { type: 'text', id: `${runId}-0`, text: 'x'.repeat(40) },
    ])
    expect(await finalizeRun(stepDeps, input)).toEqual({ status: 'error' })
    expect((await service.collections.runs.findById(runId).lean())?.spent ?? []).toEqual([])
  })

  it.each([
    ['began the first step before its workflow asked', { fence: 1 }],
    ['went on in memory with the next step', { fence: 2, step_fence: 2 }],
  ])('counts what a process had asked that %s and died, when another one asks again', async (_when, died) => {
    const { talk, stepDeps } = await unfinished()
    const { runId, run } = await stored(talk, { ...died, input_json: humanJson('And now?') })
    const { fence } = died
    await stepDeps.stream.publish(runId, fence, [
      { type: 'open' },
      { type: 'begin', id: `${runId}-0`, sent: { fence, model: 'scripted', prompt: 30 } },
      { type: 'text', id: `${runId}-0`, text: 'x'.repeat(40) },
    ])
    await service.collections.runs.updateOne({ _id: runId }, { $inc: { fence: 1 } })
    service.model.reply({ text: 'Now.' })
    const live = stepDeps.liveRuns.claimed({ ...run, fence: fence + 1 }, { step: 0, isFresh: isUntouched(run) })
    expect(await modelStep(stepDeps, live)).toEqual({ next: 'done' })
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({
      status: 'success',
      spent: [{ model: 'scripted', step: 0, fence, prompt_tokens: 30, completion_tokens: 10 }],
    })
  })

  it('takes its own end for stored if the database stored it without saying so', async () => {
    const { talk, stepDeps } = await unfinished()
    const { runId, run } = await stored(talk, { fence: 1, input_json: humanJson('And now?') })
    let lost = 0
    const forgetful = {
      ...stepDeps,
      onError: () => undefined,
      log: {
        ...stepDeps.log,
        append: async (...args: Parameters<typeof stepDeps.log.append>) => {
          const appended = await stepDeps.log.append(...args)
          if (lost++ === 0) throw new Error('connection lost')
          return appended
        },
      },
    }
    service.model.reply({ text: 'Now.' })
    const live = stepDeps.liveRuns.claimed(run, { step: 0, isFresh: true })
    expect(await modelStep(forgetful, live)).toEqual({ next: 'done' })
    expect(lost).toBe(2)
    expect((await service.collections.runs.findById(runId).lean())?.spent ?? []).toEqual([])
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
    await expect(finalizeRun(broken, input)).rejects.toBe(problem)
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'interrupted' })
    expect(await finalizeRun(broken, input, { endAnyway: true })).toEqual({ status: 'error' })
    expect(reported).toEqual([problem])
    expect(await service.collections.runs.findById(runId).lean()).toMatchObject({ status: 'error' })
  })
})
