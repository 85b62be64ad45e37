import { proxyActivities, proxyLocalActivities } from '@temporalio/workflow'

const options = { startToCloseTimeout: '1m' } as const
const local = proxyLocalActivities<{ nothing(): Promise<void> }>(options)
const regular = proxyActivities<{ nothing(): Promise<void> }>(options)

/**
 * The minimum of a durable answer: a local activity that does nothing. Each tool adds a regular activity and
 * another local one.
 */
export async function bareWorkflow(tools: number): Promise<void> {
  await local.nothing()
  for (let tool = 0; tool < tools; tool++) {
    await regular.nothing()
    await local.nothing()
  }
}
