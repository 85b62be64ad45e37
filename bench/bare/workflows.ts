import { proxyActivities } from '@temporalio/workflow'

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1m' })

/** The least that a durable step can be: one workflow with one activity that does nothing. */
export async function emptyWorkflow(): Promise<void> {
  await nothing()
}
