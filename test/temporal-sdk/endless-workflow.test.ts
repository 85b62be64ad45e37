import { randomUUID } from 'node:crypto'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import {
  DefaultLogger,
  NativeConnection,
  Worker,
  type WorkflowBundleOption,
  bundleWorkflowCode,
} from '@temporalio/worker'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLogger } from '../../infra/logger.ts'
import { installRuntime } from '../../worker/temporal-runtime.ts'
import { workersWithSharedThread } from '../../worker/temporal-sdk/shared-thread.ts'
import { eventually } from '../support/eventually.ts'
import { bystanderWorkflow, endlessWorkflow, finish, proceed, progress } from './endless-workflows.ts'

/** On a real server. `steps` are those that the bystander did. */
describe('a workflow that never returns', () => {
  const lines: string[] = []
  const steps: string[] = []
  let connections: { client: Connection; native: NativeConnection }
  let client: Client
  let bundle: WorkflowBundleOption

  beforeAll(async () => {
    installRuntime(createLogger('test', 'error', { write: (line) => lines.push(line) }))
    const address = inject('services').temporalAddress
    const workflowsPath = path.join(import.meta.dirname, 'endless-workflows.ts')
    const [native, clientConnection, built] = await Promise.all([
      NativeConnection.connect({ address }),
      Connection.connect({ address }),
      bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') }),
    ])
    connections = { native, client: clientConnection }
    client = new Client({ connection: clientConnection })
    bundle = built
  })
  afterAll(async () => {
    await connections.native.close()
    await connections.client.close()
  })

  it('fails its task with the reason, and the other workflows of the process go on', { timeout: 180_000 }, async () => {
    const taskQueue = randomUUID()
    const worker = await workersWithSharedThread(['step']).create({
      connection: connections.native,
      taskQueue,
      workflowBundle: bundle,
      activities: { step: async (key: string) => (steps.push(key), key) },
    })
    const threadsEnded = () => lines.filter((line) => line.includes('the workflow thread ended')).length
    const start = { taskQueue, workflowTaskTimeout: '10s', args: [] as [] } as const

    await worker.runUntil(async () => {
      const bystander = await client.workflow.start(bystanderWorkflow, { ...start, workflowId: `by-${taskQueue}` })
      let signals = 0
      const bystanderProceeds = async () => {
        signals++
        await bystander.signal(proceed)
        await eventually(`step ${signals} of the bystander`, async () => (await bystander.query(progress)) === signals)
      }
      await bystanderProceeds()
      const endless = await client.workflow.start(endlessWorkflow, { ...start, workflowId: `loop-${taskQueue}` })
      const reason = await eventually(
        'the task of the endless workflow fails',
        async () => {
          const { events } = await endless.fetchHistory()
          const failed = events?.find((event) => event.workflowTaskFailedEventAttributes)
          return failed?.workflowTaskFailedEventAttributes?.failure?.message
        },
        60_000,
      )
      expect(reason).toBe(
        'The code of this workflow did not return for a second of processor time, so its thread was ended. Look for a loop that never ends.',
      )
      await bystanderProceeds()
      // The server gives out the task again. This process tries it once more, and then refuses it.
      await eventually(
        'the third attempt',
        async () => {
          const { raw } = await endless.describe()
          return (raw.pendingWorkflowTask?.attempt ?? 0) > 3
        },
        90_000,
      )
      expect(threadsEnded()).toBe(2)
      expect(lines.join('')).toContain('did not return 2 times in this process')
      await bystanderProceeds()
      await bystander.signal(finish)
      const done = await bystander.result()
      expect(done).toHaveLength(signals)
      // What was done before a thread ended was not done again, and the replay came to the same values.
      expect(steps.filter((key) => done.includes(key))).toEqual(done)
      const history = await bystander.fetchHistory()
      await expect(Worker.runReplayHistory({ workflowBundle: bundle }, history)).resolves.toBeUndefined()
      expect((await endless.describe()).status.name).toBe('RUNNING')
      await endless.terminate()
    })
  })

  it('is not one that waits for long', async () => {
    const taskQueue = randomUUID()
    const worker = await workersWithSharedThread(['step']).create({
      connection: connections.native,
      taskQueue,
      workflowBundle: bundle,
      activities: { step: async (key: string) => pause(3000, key) },
    })
    const before = lines.length
    await worker.runUntil(async () => {
      const bystander = await client.workflow.start(bystanderWorkflow, { taskQueue, workflowId: taskQueue, args: [] })
      await bystander.signal(proceed)
      await bystander.signal(finish)
      expect(await bystander.result()).toHaveLength(1)
    })
    expect(lines.slice(before)).toEqual([])
  })
})
