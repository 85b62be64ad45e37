import path from 'node:path'
import { coresdk } from '@temporalio/proto'
import { DefaultLogger, Worker, bundleWorkflowCode } from '@temporalio/worker'
import type { WorkflowCreateOptions, WorkflowCreator } from '@temporalio/worker/lib/workflow/interface.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { workersWithSharedThread } from '../../worker/temporal-sdk/shared-thread.ts'
import { bystanderWorkflow, endlessAtOnceWorkflow } from './endless-workflows.ts'

/** What `worker/temporal-sdk/shared-thread.ts` and `workflow-thread.ts` rely on; README.md there. */
describe('the shared workflow thread', () => {
  const logger = new DefaultLogger('ERROR', ({ message }) => logged.push(message))
  const logged: string[] = []
  let creators: WorkflowCreator[]

  beforeAll(async () => {
    const workflowsPath = path.join(import.meta.dirname, 'endless-workflows.ts')
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger })
    const options = { workflowBundle, interceptors: { workflowModules: [] } } as never
    const WorkerClass = workersWithSharedThread(['step'])
    const bundle = await WorkerClass['getOrCreateBundle'](options, logger)
    if (!bundle) throw new Error('The SDK made nothing of a bundle of workflows')
    const create = () => WorkerClass['createWorkflowCreator'](bundle, options, logger)
    creators = await Promise.all([create(), create()])
  })
  afterAll(() => Promise.all(creators.map((creator) => creator.destroy())))

  it('is made in two protected methods that the SDK still calls', () => {
    const problem =
      'Worker.create has another way to make bundle and workflow thread: bring shared-thread.ts up to date'
    for (const method of ['getOrCreateBundle', 'createWorkflowCreator'] as const) {
      expect(typeof Worker[method as never], problem).toBe('function')
      expect(String(Worker.create), problem).toContain(`this.${method}(`)
    }
  })

  it('executes workflows through the client and the script of the SDK', async () => {
    const { activate, dispose } = await open(0, bystanderWorkflow.name)
    const { successful, failed } = await activate()
    expect(failed, 'the SDK no longer answers an activation as workflow-thread.ts expects').toBeFalsy()
    expect(successful).toBeTruthy()
    await dispose()
  })

  it('ends when a workflow does not return, and is replaced; only that workflow is blamed', async () => {
    const [bystander, endless] = [await open(0, bystanderWorkflow.name), await open(1, endlessAtOnceWorkflow.name)]
    await bystander.activate()
    const problem = 'thread.cjs no longer sees the requests of the SDK, or the thread cannot be ended'
    await expect(endless.activate(), problem).rejects.toThrow(
      /^The code of this workflow did not return .* so its thread/,
    )
    await expect(bystander.activate(), problem).rejects.toThrow(
      /code of run run-\d+ did not return .* task is repeated/,
    )
    expect(await bystander.sinkCalls(), 'the SDK asks for them also after a failure').toEqual([])
    await bystander.dispose()
    await endless.dispose()
    const again = await open(0, bystanderWorkflow.name)
    expect(await again.activate()).toMatchObject({ successful: expect.anything() })
    await again.dispose()
    expect(logged).toEqual(['the workflow thread ended and is started anew'])
  })

  let runs = 0

  /** A workflow of one of the two workers, and its first task. */
  async function open(worker: number, workflowType: string) {
    const runId = `run-${runs++}`
    const info = { runId, workflowId: 'one', workflowType, unsafe: {}, startTime: new Date(), searchAttributes: {} }
    const options = { info, randomnessSeed: [1, 2, 3, 4], now: Date.now(), showStackTraceSources: false }
    const workflow = await creators[worker]?.createWorkflow(options as unknown as WorkflowCreateOptions)
    if (!workflow) throw new Error(`There is no worker ${worker}`)
    const { WorkflowActivation } = coresdk.workflow_activation
    const initializeWorkflow = { workflowType, workflowId: 'one', arguments: [], headers: {} }
    return {
      activate: () =>
        workflow.activate(
          WorkflowActivation.fromObject({ runId, timestamp: { seconds: 1 }, jobs: [{ initializeWorkflow }] }),
        ),
      sinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: () => workflow.dispose(),
    }
  }
})
