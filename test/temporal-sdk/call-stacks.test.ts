import { randomUUID } from 'node:crypto'
import path from 'node:path'
import type { WorkflowHandle } from '@temporalio/client'
import { DefaultLogger, type WorkflowBundleWithSourceMap, bundleWorkflowCode } from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workflowBundle } from '../../worker/temporal-sdk/workflow-bundle.ts'
import { emailVerificationWorkflow } from '../../workflows/email-verification.ts'
import { eventually } from '../support/eventually.ts'
import { startTimeSkipping } from '../support/time-skipping.ts'
import { lostRejectionWorkflow } from './lost-rejection.ts'

const root = path.join(import.meta.dirname, '../..')

describe('call stacks of workflows', () => {
  let server: Awaited<ReturnType<typeof startTimeSkipping>>
  beforeAll(async () => {
    server = await startTimeSkipping()
  })
  afterAll(() => server.close())

  it.each([
    { callStacks: true, expected: expect.stringContaining('VerificationCode') },
    // Empty as long as the SDK asks for its classes in the way that the bundle answers.
    { callStacks: false, expected: '' },
  ])('are known with callStacks $callStacks', async ({ callStacks, expected }) => {
    const sent = Promise.withResolvers<void>()
    const activities = { sendVerificationCode: async () => sent.resolve(), openVerificationCode: async () => undefined }
    const stack = await withWorkflow(workflowBundle({ callStacks }), activities, async (start) => {
      const handle = await start(emailVerificationWorkflow, [{ userId: randomUUID(), sendAtStart: true }])
      await sent.promise
      return handle.query('__stack_trace')
    })
    const problem = 'the SDK asks for its classes in another way: bring without-call-stacks.ts up to date'
    expect(stack, problem).toEqual(expected)
  })

  it('are not needed to tell which workflow has lost a rejection', async () => {
    const workflowsPath = path.join(root, 'test/temporal-sdk/lost-rejection.ts')
    const without = path.join(root, 'worker/temporal-sdk/without-call-stacks.ts')
    const logger = new DefaultLogger('ERROR')
    const bundle = bundleWorkflowCode({ workflowsPath, preloadModules: [without, workflowsPath], logger })
    await withWorkflow(bundle, {}, async (start) => {
      const handle = await start(lostRejectionWorkflow, [])
      await eventually('the task has failed', async () => {
        const { events } = await handle.fetchHistory()
        return events?.some(({ workflowTaskFailedEventAttributes: failed }) =>
          failed?.failure?.message?.includes('nobody looks'),
        )
      })
    })
  })

  type Start = <A extends unknown[]>(
    workflow: (...args: A) => Promise<unknown>,
    args: A,
  ) => Promise<Pick<WorkflowHandle, 'query' | 'fetchHistory'>>

  async function withWorkflow<T>(
    bundle: Promise<WorkflowBundleWithSourceMap>,
    activities: object,
    work: (start: Start) => Promise<T>,
  ): Promise<T> {
    const taskQueue = randomUUID()
    const handle = server.client.workflow.getHandle(taskQueue)
    const start: Start = async (workflow, args) => {
      await server.client.workflow.start(workflow.name, { workflowId: taskQueue, taskQueue, args })
      return handle
    }
    return server.withWorker(
      taskQueue,
      activities,
      async () => {
        try {
          return await work(start)
        } finally {
          // One that is left waiting for its worker would hold up the time of other tests.
          await handle.terminate()
        }
      },
      bundle,
    )
  }
})
