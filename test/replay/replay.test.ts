import { Worker } from '@temporalio/worker'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { createLogger } from '../../infra/logger.ts'
import { installRuntime } from '../../worker/temporal-runtime.ts'
import { workflowBundle } from '../../worker/temporal-sdk/workflow-bundle.ts'
import { readHistory, savedHistories } from '../support/histories.ts'

/**
 * Workflows outlive deployments: today's code must take the same decisions as the code that wrote
 * these histories. When one fails, the change needs `patched()`, or a new workflow type.
 */
describe('saved histories', async () => {
  installRuntime(createLogger('test', process.env['TEST_LOG_LEVEL'] ?? 'silent'))
  const files = await savedHistories()

  it('exist for every workflow, also of the last released version', async () => {
    const released = files.filter((file) => file.startsWith(`releases/${manifest.version}/`))
    const started = new Set<string>()
    for (const file of released) {
      const { events } = await readHistory(file)
      started.add(String(events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name))
    }
    expect([...started].toSorted()).toEqual([
      'cleanupWorkflow',
      'deletionWorkflow',
      'emailVerificationWorkflow',
      'feedbackWorkflow',
      'fileDeletionWorkflow',
      'ingestionWorkflow',
      'passwordResetWorkflow',
      'threadWorkflow',
    ])
    expect(files.length).toBeGreaterThan(released.length)
  })

  it.each(files)('%s is replayed without a difference', async (file) => {
    const replay = Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, await readHistory(file))
    await expect(replay).resolves.toBeUndefined()
  })
})
