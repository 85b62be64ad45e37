import path from 'node:path'
import vm from 'node:vm'
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker'
import type { WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface.js'
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm.js'
import { expect, it, vi } from 'vitest'
import { workersWithSharedThread } from '../../worker/temporal-sdk/shared-thread.ts'
import { noTimeout } from '../../worker/temporal-sdk/workflow-thread.ts'

it('workflow code is called without a time limit, for which Node would start a thread with each call', async () => {
  const logger = new DefaultLogger('ERROR')
  const workflowsPath = path.join(import.meta.dirname, 'endless-workflows.ts')
  const options = { workflowBundle: await bundleWorkflowCode({ workflowsPath, logger }), interceptors: {} }
  const bundle = await workersWithSharedThread([])['getOrCreateBundle'](options as never, logger)
  if (!bundle) throw new Error('The SDK made nothing of a bundle of workflows')
  const calls = [vi.spyOn(vm.Script.prototype, 'runInContext'), vi.spyOn(vm, 'runInContext')]

  const creator = await ReusableVMWorkflowCreator.create(bundle, noTimeout, new Set())
  const info = { runId: 'run', workflowId: 'one', workflowType: 'bystanderWorkflow', unsafe: {} }
  const start = { info, randomnessSeed: [1, 2, 3, 4], now: 0, showStackTraceSources: false }
  const workflow = await creator.createWorkflow(start as unknown as WorkflowCreateOptions)
  await workflow.dispose()

  const limits = calls.flatMap(({ mock }) => mock.calls.map((args) => args.at(-1))).filter((last) => hasLimit(last))
  expect(calls.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeGreaterThan(5)
  expect(limits, 'the SDK sets a limit by itself when it is given none: workflows cost twice as much').toEqual([])
})

const hasLimit = (options: unknown) =>
  typeof options === 'object' && options !== null && 'timeout' in options && options.timeout !== undefined
