import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type EmbedStepResult,
  type FileStepInput,
  type IngestionInput,
  ingestionContract,
} from '../../domain/contracts/ingestion.ts'
import {
  type FinalizeInput,
  type StepInput,
  type StepResult,
  type ToolInput,
  threadContract,
} from '../../domain/contracts/thread.ts'
import { ingestionWorkflow } from '../../workflows/ingestion.ts'
import { threadWorkflow } from '../../workflows/thread.ts'
import { eventually } from '../support/eventually.ts'
import { startShortHistories } from '../support/short-histories.ts'

const { signals } = threadContract

describe('a workflow whose history becomes long', { timeout: 180_000 }, () => {
  let server: Awaited<ReturnType<typeof startShortHistories>>
  beforeAll(async () => {
    server = await startShortHistories(40)
  })
  afterAll(() => server.close())

  /** The id of a run. Runs are executed in the order of their ids, so that 9 stands before 10. */
  const name = (run: number) => String(run).padStart(2, '0')

  /** A thread whose first run is `00`. */
  async function thread<T>(
    modelStep: (input: StepInput) => Promise<StepResult>,
    work: (flow: { handle: Awaited<ReturnType<typeof start>>; seen: string[] }) => Promise<T>,
  ): Promise<T> {
    const seen: string[] = []
    const activities = {
      modelStep: async (input: StepInput) => {
        seen.push(`model ${input.runId} ${input.step}`)
        return modelStep(input)
      },
      settleRun: async ({ runId, outcome }: FinalizeInput) => {
        seen.push(`settle ${runId} ${outcome}`)
        return { status: outcome }
      },
      default: async ({ runId, step, index }: ToolInput) => void seen.push(`tool ${runId} ${step} ${index}`),
    }
    return server.withWorker(activities, async (taskQueue) => work({ handle: await start(taskQueue), seen }))
  }

  const start = (taskQueue: string) => {
    const threadId = crypto.randomUUID()
    return server.client.workflow.signalWithStart(threadWorkflow, {
      workflowId: threadContract.id({ threadId }),
      taskQueue,
      args: [{ threadId }],
      signal: signals.enqueueRun,
      signalArgs: [{ runId: name(0), strategy: 'enqueue' }],
    })
  }
  /** Signals are answered before the workflow has taken them. Throws when it does not continue as new. */
  const inLaterExecution = (workflowId: string) =>
    eventually('a later execution', async () => (await server.executions(workflowId)) > 1)
  const tools = (approval: boolean, maxSteps = 200): StepResult => ({
    next: 'tools',
    calls: [{ index: 0, name: 'look', timeoutMs: 1000, safeToRepeat: true }],
    approval,
    parallelCalls: 4,
    maxSteps,
  })

  it('of a thread that is never idle: each run is executed once, in order, and cancelled ones are not begun', async () => {
    const [first, middle] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const { seen, workflowId } = await thread(
      async ({ runId }) => {
        if (runId === name(0)) await first.promise
        if (runId === name(59)) await middle.promise
        return { next: 'done' }
      },
      async ({ handle, seen }) => {
        for (let run = 1; run < 60; run++) {
          await handle.signal(signals.enqueueRun, { runId: name(run), strategy: 'enqueue' })
        }
        for (const runId of ['31', '58']) await handle.signal(signals.cancelRun, { runId })
        first.resolve()
        // While executions follow each other, signals keep coming.
        for (let run = 60; run < 90; run++) {
          await handle.signal(signals.enqueueRun, { runId: name(run), strategy: 'enqueue' })
        }
        middle.resolve()
        expect((await handle.result()).ended).toEqual({ success: 88, cancelled: 2 })
        return { seen, workflowId: handle.workflowId }
      },
    )
    const expected = Array.from({ length: 90 }, (_, run) =>
      run === 31 || run === 58 ? `settle ${name(run)} cancelled` : `model ${name(run)} 0`,
    )
    // Signals repeat the workflow task, and with it a step that is under way.
    expect([...new Set(seen)]).toEqual(expected)
    expect(await server.executions(workflowId)).toBeGreaterThan(2)
  })

  it('of a run with many steps: it continues at its next step, up to its limit', async () => {
    const { seen, workflowId } = await thread(
      async () => tools(false, 30),
      async ({ handle, seen }) => {
        await handle.result()
        return { seen, workflowId: handle.workflowId }
      },
    )
    const steps = Array.from({ length: 30 }, (_, step) => [`model 00 ${step}`, `tool 00 ${step} 0`]).flat()
    expect(seen).toEqual([...steps, 'settle 00 error'])
    expect(await server.executions(workflowId)).toBeGreaterThan(1)
  })

  it('of a run that waits for a person: the decision arrives in any execution, and tools are executed once', async () => {
    const { seen } = await thread(
      async ({ runId, step }) => (runId === name(0) && step === 0 ? tools(true) : { next: 'done' }),
      async ({ handle, seen }) => {
        for (let run = 1; run < 90; run++) {
          await handle.signal(signals.enqueueRun, { runId: name(run), strategy: 'enqueue' })
        }
        // It is known to the execution that has just taken over.
        await handle.signal(signals.enqueueRun, { runId: name(0), strategy: 'enqueue' })
        await inLaterExecution(handle.workflowId)
        await handle.signal(signals.resumeRun, { runId: name(0), step: 0 })
        await handle.result()
        return { seen }
      },
    )
    expect(seen.slice(0, 4)).toEqual(['model 00 0', 'tool 00 0 0', 'model 00 1', 'model 01 0'])
    expect(seen).toHaveLength(3 + 89)
  })

  it('of a run that waits for a person: it can be cancelled in a later execution', async () => {
    const { seen, attributes } = await thread(
      async () => tools(true),
      async ({ handle, seen }) => {
        for (let round = 0; round < 90; round++) await handle.signal(signals.cancelRun, { runId: 'unknown' })
        await inLaterExecution(handle.workflowId)
        await handle.signal(signals.cancelRun, { runId: name(0) })
        await handle.result()
        return { seen, attributes: (await handle.describe()).searchAttributes }
      },
    )
    expect(seen).toEqual(['model 00 0', 'settle 00 cancelled'])
    expect(attributes).toMatchObject({ AgentRunId: [name(0)], RunStatus: ['cancelled'] })
  })

  it('of an upload of many files: each is extracted and embedded once, in order, and all are counted', async () => {
    const fileIds = Array.from({ length: 60 }, (_, index) => `file-${index}`)
    const extracted: string[] = []
    const embedded: string[] = []
    const activities = {
      extractFile: async ({ fileId }: FileStepInput) => void extracted.push(fileId),
      embedFile: async ({ fileId }: FileStepInput): Promise<EmbedStepResult> => {
        embedded.push(fileId)
        return fileId === 'file-7' ? 'failed' : 'ready'
      },
    }
    await server.withWorker(activities, async (taskQueue) => {
      const input = { ingestionId: crypto.randomUUID(), assistantId: 'a', fileIds }
      const workflowId = ingestionContract.id(input)
      const options = { workflowId, taskQueue, args: [input] as [IngestionInput] }
      const handle = await server.client.workflow.start(ingestionWorkflow, options)
      expect(await handle.result()).toEqual({ ready: 59, failed: 1, gone: 0 })
      const progress = await server.client.workflow.getHandle(workflowId).query(ingestionContract.queries.progress)
      expect(progress.total).toBe(60)
      expect(Object.keys(progress.outcomes)).toEqual(fileIds)
      expect(await server.executions(workflowId)).toBeGreaterThan(2)
    })
    expect(extracted.toSorted()).toEqual(fileIds.toSorted())
    expect(embedded).toEqual(fileIds)
  })
})
