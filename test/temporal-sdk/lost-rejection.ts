import { sleep } from '@temporalio/workflow'

/** A faulty workflow: it does not look at a promise that is rejected. */
export async function lostRejectionWorkflow(): Promise<void> {
  void Promise.reject(new Error('nobody looks'))
  await sleep('1 hour')
}
