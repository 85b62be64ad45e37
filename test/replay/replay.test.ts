import { Worker } from '@temporalio/worker'
import { describe, expect, it } from 'vitest'
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

  it('exist for every workflow, as the code is now', async () => {
    const started = new Set<string>()
    for (const file of files.filter((name) => name.startsWith('histories/'))) {
      const { events } = await readHistory(file)
      started.add(String(events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name))
    }
    expect([...started].toSorted()).toEqual([
      'cleanupWorkflow',
      'crawlWorkflow',
      'deletionWorkflow',
      'emailVerificationWorkflow',
      'feedbackWorkflow',
      'fileDeletionWorkflow',
      'ingestionWorkflow',
      'invitationWorkflow',
      'passwordResetWorkflow',
      'reembeddingWorkflow',
      'scheduleRunWorkflow',
      'sourceDeletionWorkflow',
      'suggestionWorkflow',
      'threadWorkflow',
    ])
  })

  it.each(files)('%s is replayed without a difference', async (file) => {
    const replay = Worker.runReplayHistory({ workflowBundle: await workflowBundle() }, await readHistory(file))
    await expect(replay).resolves.toBeUndefined()
  })
})
