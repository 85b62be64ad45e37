import { randomUUID } from 'node:crypto'
import { activityInfo, cancelled, heartbeat } from '@temporalio/activity'
import { ApplicationFailure } from '@temporalio/common'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type ClientTurnResult,
  type PlannedTools,
  type FinalizeInput,
  type FinalizeResult,
  type StepInput,
  type StepQueued,
  type StepResult,
  type ToolInput,
  supersededType,
  threadBusyType,
  threadContract,
} from '../../domain/contracts/thread.ts'
import { searchAttributeKey } from '../../domain/contracts/workflow-contract.ts'
import { threadWorkflow } from '../../workflows/thread.ts'
import { eventually } from '../support/eventually.ts'
import { recordHistory } from '../support/histories.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'

const { signals, updates } = threadContract

const tools = (approval = false): StepResult & PlannedTools => ({
  next: 'tools',
  calls: [
    { index: 0, name: 'look', timeoutMs: 1000, safeToRepeat: true },
    { index: 1, name: 'act', timeoutMs: 1000, safeToRepeat: false },
  ],
  approval,
  parallelCalls: 4,
  maxSteps: 3,
})

const failsFor = (minutes: number) =>
  ApplicationFailure.create({
    message: 'busy',
    type: 'rate_limited',
    details: [429, '', minutes * 60_000],
    nextRetryDelay: `${minutes} minutes`,
  })

let server: Awaited<ReturnType<typeof startTimeSkipping>>
beforeAll(async () => {
  server = await startTimeSkipping()
})
afterAll(() => server.close())

describe('the thread workflow', () => {
  /** A thread with activities that note what they are asked and answer what the test says. */
  async function thread<T>(
    step: (input: StepInput, seen: string[]) => Promise<StepResult | StepQueued>,
    work: (flow: Awaited<ReturnType<typeof start>>) => Promise<T>,
    more: {
      settle?: (input: FinalizeInput) => Promise<FinalizeResult>
      clientTurn?: () => ClientTurnResult
      tool?: (input: ToolInput) => Promise<void>
      maxDurationMs?: number
    } = {},
  ) {
    const taskQueue = randomUUID()
    const seen: string[] = []
    const activities = {
      modelStep: async (input: StepInput) => {
        seen.push(`model ${input.runId} ${input.step}`)
        return step(input, seen)
      },
      clientTurn: async ({ runId, step }: StepInput): Promise<ClientTurnResult> => {
        seen.push(`client ${runId} ${step}`)
        return more.clientTurn?.() ?? { status: 'interrupted' }
      },
      settleRun: async (input: FinalizeInput) => {
        seen.push(`settle ${input.runId} ${input.outcome} ${input.error?.type ?? ''}`.trim())
        return more.settle?.(input) ?? { status: input.outcome }
      },
      default: async (input: ToolInput) => {
        await more.tool?.(input)
        seen.push(`tool ${input.runId} ${input.step} ${input.index}`)
      },
    }
    return server.withWorker(taskQueue, activities, async () => work(await start(taskQueue, seen, more)))
  }

  async function start(taskQueue: string, seen: string[], { maxDurationMs }: { maxDurationMs?: number } = {}) {
    const threadId = randomUUID()
    const run = { runId: 'a', strategy: 'enqueue' as const, ...(maxDurationMs === undefined ? {} : { maxDurationMs }) }
    const options = { workflowId: threadContract.id({ threadId }), taskQueue }
    const handle = await server.client.workflow.start(threadWorkflow, { ...options, args: [{ threadId, run }] })
    return { handle, seen }
  }

  it('executes steps and tools until the final answer, then ends', async () => {
    const seen = await thread(
      async ({ step }) => (step === 0 ? tools() : { next: 'done' }),
      async ({ handle, seen }) => {
        expect(await handle.result()).toMatchObject({ ended: { success: 1 }, lastRunId: 'a' })
        return seen
      },
    )
    expect(seen[0]).toBe('model a 0')
    expect(seen.slice(1, 3).toSorted((a, b) => a.localeCompare(b))).toEqual(['tool a 0 0', 'tool a 0 1'])
    expect(seen.slice(3)).toEqual(['model a 1'])
  })

  it('repeats a step that another execution has taken over', async () => {
    let attempts = 0
    await thread(
      async () => {
        attempts += 1
        if (attempts === 1) throw ApplicationFailure.nonRetryable('Another attempt has the run.', supersededType)
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        await handle.result()
        expect(seen).toEqual(['model a 0', 'model a 0'])
      },
    )
  })

  it('executes a queued step again when a slot is free, or after the time that it named', async () => {
    const { details, minutes } = await thread(
      async (_input, seen): Promise<StepResult | StepQueued> =>
        seen.length < 3 ? { next: 'queued', checkAfterMs: 30 * 60_000 } : { next: 'done' },
      async ({ handle, seen }) => {
        const startedAt = await server.now()
        const queued = async () => (await detailsOf(handle)).includes('waiting for other runs')
        await eventually('the step to be queued', queued)
        const details = await detailsOf(handle)
        await handle.signal(signals.slotFree, { runId: 'another' })
        expect(seen).toEqual(['model a 0'])
        await handle.signal(signals.slotFree, { runId: 'a' })
        await eventually('the step to be queued again', async () => seen.length === 2 && (await queued()))
        await handle.result()
        expect(seen).toEqual(['model a 0', 'model a 0', 'model a 0'])
        await recordHistory('thread-queued-step', await handle.fetchHistory())
        return { details, minutes: ((await server.now()) - startedAt) / 60_000 }
      },
      // Waiting for other runs does not count.
      { maxDurationMs: 60_000 },
    )
    expect(details).toMatch(/Run a: model step 1, waiting for other runs since 20/)
    expect(minutes).toBeGreaterThanOrEqual(30)
  })

  it('cancels a run whose step is queued', async () => {
    const seen = await thread(
      async () => ({ next: 'queued', checkAfterMs: 3_600_000 }),
      async ({ handle, seen }) => {
        await eventually('the step', () => seen.length === 1)
        await handle.signal(signals.cancelRun, { runId: 'a' })
        await handle.result()
        return seen
      },
    )
    expect(seen).toEqual(['model a 0', 'settle a cancelled'])
  })

  it('waits a week for a person, refuses tryEnqueueRun meanwhile, and ends a run at its step limit', async () => {
    const seen = await thread(
      async ({ step }) => tools(step === 0),
      async ({ handle, seen }) => {
        await server.sleep(7 * 24 * 3600_000)
        expect(seen).toEqual(['model a 0'])
        await expectRefusal(handle)
        await handle.signal(signals.resumeRun, { runId: 'a', step: 1 })
        await server.sleep(3600_000)
        expect(seen).toEqual(['model a 0'])
        await handle.signal(signals.resumeRun, { runId: 'a', step: 0 })
        await handle.result()
        return seen
      },
    )
    expect(seen.filter((line) => line.startsWith('model'))).toEqual(['model a 0', 'model a 1', 'model a 2'])
    expect(seen.at(-1)).toBe('settle a error max_steps')
  })

  it.each([
    { sent: ['c', 'b'], what: 'the older one comes later' },
    { sent: ['b', 'c'], what: 'the newer one comes later' },
  ])('lets the newest of two runs answer that interrupt each other, when $what', async ({ sent }) => {
    const seen = await thread(
      async ({ runId }) => {
        if (runId === 'a') await cancelled()
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        await eventually('the first run', () => seen.length === 1)
        for (const runId of sent) await handle.signal(signals.enqueueRun, { runId, strategy: 'interrupt' })
        await handle.result()
        await recordHistory(`thread-interrupted-${sent.join('-')}`, await handle.fetchHistory())
        return seen
      },
    )
    expect(seen).toContain('model c 0')
    expect(seen).toContain('settle a cancelled')
    expect(seen).toContain('settle b cancelled')
    expect(seen).not.toContain('model b 0')
  })

  it('executes runs in the order of their ids, however their signals arrive', async () => {
    const gate = Promise.withResolvers<void>()
    const seen = await thread(
      async ({ runId }) => {
        if (runId === 'a') await gate.promise
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        await eventually('the first run', () => seen.length === 1)
        for (const runId of ['d', 'b', 'c']) await handle.signal(signals.enqueueRun, { runId, strategy: 'enqueue' })
        gate.resolve()
        await handle.result()
        return seen
      },
    )
    // The signals repeat the workflow task, and with it the first step.
    expect([...new Set(seen)]).toEqual(['model a 0', 'model b 0', 'model c 0', 'model d 0'])
  })

  it('executes each run once, in order; skips a cancelled one', async () => {
    const gate = Promise.withResolvers<void>()
    const seen = await thread(
      async ({ runId }) => {
        if (runId === 'a') await gate.promise
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        for (const runId of ['b', 'b', 'c']) await handle.signal(signals.enqueueRun, { runId, strategy: 'enqueue' })
        await handle.signal(signals.cancelRun, { runId: 'b' })
        gate.resolve()
        await handle.result()
        return seen
      },
    )
    // A task that messages overtake is given back with its local steps; the records make repeating them harmless.
    expect(seen.slice(-2)).toEqual(['settle b cancelled', 'model c 0'])
    expect(seen[0]).toBe('model a 0')
  })

  const detailsOf = async (handle: Awaited<ReturnType<typeof start>>['handle']) =>
    JSON.stringify(await handle.query('__temporal_workflow_metadata'))

  async function expectRefusal(handle: Awaited<ReturnType<typeof start>>['handle']): Promise<void> {
    const attempt = handle.executeUpdate(updates.tryEnqueueRun, { args: [{ runId: 'd', strategy: 'reject' }] })
    await expect(attempt).rejects.toMatchObject({ cause: { type: threadBusyType } })
    const { events } = await handle.fetchHistory()
    expect(events?.some((event) => event.workflowExecutionUpdateAcceptedEventAttributes)).toBe(false)
  }

  it('continues with the next run when one cannot be settled', async () => {
    const seen = await thread(
      async ({ runId }) => {
        if (runId === 'a') throw ApplicationFailure.nonRetryable('broken', 'model_error')
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        await handle.signal(signals.enqueueRun, { runId: 'b', strategy: 'enqueue' })
        await handle.result()
        return seen
      },
      {
        settle: async () => {
          throw ApplicationFailure.retryable('the records of this run cannot be read', 'internal')
        },
      },
    )
    expect(seen.filter((line) => line.startsWith('settle')).length).toBeLessThanOrEqual(12)
    expect(seen.at(-1)).toBe('model b 0')
  })

  it.each(['cancelled', 'error'] as const)(
    'shows the status %s of a run that ended before its first step',
    async (status) => {
      const { typedSearchAttributes } = await thread(
        async () => ({ next: 'done', status }),
        async ({ handle }) => {
          await handle.result()
          return handle.describe()
        },
      )
      expect(typedSearchAttributes.get(searchAttributeKey('RunStatus'))).toBe(status)
    },
  )

  it('settles a cancelled run after all of its tools have stopped', async () => {
    const begun = Promise.withResolvers<void>()
    const seen = await thread(
      async () => tools(),
      async ({ handle, seen }) => {
        await begun.promise
        await handle.signal(signals.cancelRun, { runId: 'a' })
        await handle.result()
        return seen
      },
      {
        tool: async ({ index }) => {
          if (index === 1) begun.resolve()
          const beat = setInterval(heartbeat, 100)
          await cancelled().catch(() => undefined)
          // The second takes longer to stop.
          if (index === 1) await new Promise((resolve) => setTimeout(resolve, 500))
          clearInterval(beat)
        },
      },
    )
    expect(seen.slice(1)).toEqual(['tool a 0 0', 'tool a 0 1', 'settle a cancelled'])
  })

  it('settles the current and the waiting runs when the workflow itself is cancelled', async () => {
    const begun = Promise.withResolvers<void>()
    const seen = await thread(
      async () => {
        begun.resolve()
        const beat = activityInfo().isLocal ? undefined : setInterval(heartbeat, 100)
        return cancelled().finally(() => clearInterval(beat))
      },
      async ({ handle, seen }) => {
        for (const runId of ['b', 'c']) await handle.signal(signals.enqueueRun, { runId, strategy: 'enqueue' })
        await begun.promise
        await handle.cancel()
        await expect(handle.result()).rejects.toThrow('cancelled')
        expect((await handle.describe()).status.name).toBe('CANCELLED')
        return seen
      },
    )
    expect(seen).toEqual(['model a 0', 'settle a cancelled', 'settle b cancelled', 'settle c cancelled'])
  })

  it('ends a run at its time limit, including retries and tools, but not the wait for a person', async () => {
    const settled: { error: FinalizeInput['error']; at: number }[] = []
    let toolAttempts = 0
    const seen = await thread(
      async ({ step }) => {
        if (step === 0) return { ...tools(true), calls: tools().calls.slice(0, 1) }
        throw failsFor(4)
      },
      async ({ handle, seen }) => {
        await server.sleep(7 * 24 * 3600_000)
        const resumedAt = await server.now()
        await handle.signal(signals.resumeRun, { runId: 'a', step: 0 })
        await handle.result()
        await recordHistory('thread-out-of-time', await handle.fetchHistory())
        expect((settled[0]?.at ?? 0) - resumedAt).toBeLessThanOrEqual(30 * 60_000)
        return seen
      },
      {
        maxDurationMs: 30 * 60_000,
        settle: async ({ outcome, error }) => {
          settled.push({ error, at: await server.now() })
          return { status: outcome }
        },
        tool: async () => {
          toolAttempts += 1
          throw failsFor(25)
        },
      },
    )
    expect(toolAttempts).toBe(2)
    expect(seen).toEqual(['model a 0', 'model a 1', 'model a 1', 'settle a error timed_out'])
    expect(settled[0]?.error).toEqual({
      status_code: 504,
      message: 'The run did not end within its limit of 30 minutes.',
      type: 'timed_out',
      details: 'busy',
    })
  })

  it('gives the client its turn after the tools, waits for it, and goes on', async () => {
    const seen = await thread(
      async ({ step }) => (step === 0 ? { ...tools(), clientTurn: true, expiresAfterMs: 3_600_000 } : { next: 'done' }),
      async ({ handle, seen }) => {
        await eventually('the turn of the client', () => seen.includes('client a 0'))
        await server.sleep(30 * 60_000)
        await handle.signal(signals.resumeRun, { runId: 'a', step: 0 })
        await handle.result()
        await recordHistory('thread-client-turn', await handle.fetchHistory())
        return seen
      },
    )
    expect(seen.slice(3)).toEqual(['client a 0', 'model a 1'])
  })

  it('ends with the run when the client has its turn after it', async () => {
    const seen = await thread(
      async () => ({ ...tools(), clientTurn: true }),
      async ({ handle, seen }) => {
        await handle.result()
        return seen
      },
      { clientTurn: () => ({ status: 'success' }) },
    )
    expect(seen.slice(3)).toEqual(['client a 0'])
  })

  it.each([
    { what: 'ends a run whose client sends no results in time', status: 'error' as const },
    { what: 'goes on with a run that is resumed in the moment in which it expires', status: 'running' as const },
  ])('$what', async ({ status }) => {
    const settled: FinalizeInput[] = []
    const began = await server.now()
    const { seen, waitedMs } = await thread(
      async ({ step }) =>
        step === 0 ? { ...tools(true), calls: [], expiresAfterMs: 600_000 } : { next: 'done' as const },
      async ({ handle, seen }) => {
        await server.sleep(11 * 60_000)
        await eventually('the end of the wait', () => settled.length === 1)
        const waitedMs = (await server.now()) - began
        if (status === 'running') await handle.signal(signals.resumeRun, { runId: 'a', step: 0 })
        await handle.result()
        await recordHistory(`thread-expired-${status}`, await handle.fetchHistory())
        return { seen, waitedMs }
      },
      {
        settle: async (input) => {
          settled.push(input)
          return { status }
        },
      },
    )
    expect(waitedMs).toBeGreaterThanOrEqual(600_000)
    expect(settled).toMatchObject([{ ifInterrupted: true, outcome: 'error', error: { type: 'expired' } }])
    expect(seen).toEqual(['model a 0', 'settle a error expired', ...(status === 'running' ? ['model a 1'] : [])])
  })

  it('limits the concurrent calls of a step', async () => {
    const call = { name: 'look', timeoutMs: 1000, safeToRepeat: true }
    const calls = Array.from({ length: 7 }, (_, index) => ({ ...call, index }))
    const history = await thread(
      async ({ step }) => (step === 0 ? { ...tools(), calls, parallelCalls: 3 } : { next: 'done' }),
      async ({ handle }) => {
        await handle.result()
        return handle.fetchHistory()
      },
    )
    await recordHistory('thread-many-tools', history)
    let underWay = 0
    let most = 0
    let completed = 0
    for (const event of history.events ?? []) {
      if (event.activityTaskScheduledEventAttributes) most = Math.max(most, ++underWay)
      if (event.activityTaskCompletedEventAttributes) {
        completed += 1
        underWay -= 1
      }
    }
    expect(most).toBe(3)
    expect(completed).toBe(7)
  })

  it('waits as long as the model asks, and settles a run that the model refuses', async () => {
    let attempts = 0
    const startedAt = await server.now()
    const seen = await thread(
      async () => {
        attempts += 1
        if (attempts === 1) throw failsFor(4)
        throw ApplicationFailure.create({
          message: 'no',
          type: 'model_error',
          nonRetryable: true,
          details: [400, 'because'],
        })
      },
      async ({ handle, seen }) => {
        await handle.result()
        return seen
      },
    )
    expect((await server.now()) - startedAt).toBeGreaterThanOrEqual(4 * 60_000)
    expect(seen).toEqual(['model a 0', 'model a 0', 'settle a error model_error'])
  })
})
