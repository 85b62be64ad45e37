import {
  type ActivityOptions,
  continueAsNew,
  proxyActivities,
  setCurrentDetails,
  sleep,
  workflowInfo,
} from '@temporalio/workflow'
import type { createCrawlActivities } from '../activities/crawl/index.ts'
import { backOffMs } from '../domain/back-off.ts'
import type { CrawlInput, CrawlResult, crawlContract, sourceDeletionContract } from '../domain/contracts/crawl.ts'
import type { WorkflowOf } from '../domain/contracts/workflow-contract.ts'

/** A batch takes a minute or less. What fails is not a page (that is left out), but a server of ours: it comes back. */
const batchPolicy: ActivityOptions = {
  startToCloseTimeout: '10m',
  heartbeatTimeout: '5s',
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry: { initialInterval: '500ms', maximumInterval: '1m' },
}

type Activities = ReturnType<typeof createCrawlActivities>
const { beginCrawl, crawlPages, settlePages, finishCrawl, deleteSource } = proxyActivities<Activities>(batchPolicy)

/** Crawls a source. Each step finds in the database where the one before has stopped. */
export const crawlWorkflow: WorkflowOf<typeof crawlContract> = async (input) => {
  const { sourceId } = input
  const crawlId = input.progress?.crawlId ?? workflowInfo().runId
  let batch = input.progress?.batch ?? 0
  const goOn = (): Promise<CrawlResult> =>
    continueAsNew<typeof crawlWorkflow>({ sourceId, progress: { crawlId, batch } } satisfies CrawlInput)
  if (input.progress === undefined && !(await beginCrawl({ sourceId, crawlId }))) return 'gone'
  let checks = 0
  for (let pauses = 0; ;) {
    const result = await crawlPages({ sourceId, crawlId, batch })
    if (result === 'gone') return 'gone'
    if (result === 'busy') {
      await sleep(backOffMs(++pauses, { firstMs: 1000, longestMs: longestPauseMs }))
    } else {
      pauses = 0
      batch += 1
      setCurrentDetails(`${batch} batches of pages`)
      const { embedding, visits } = await settlePages({ sourceId, crawlId })
      const isOver = result === 'done' && !visits
      if (isOver && embedding === 0) break
      if (embedding > 0 && (isOver || result === 'full')) {
        setCurrentDetails(`${embedding} pages are being embedded`)
        await sleep(backOffMs(++checks, { firstMs: 250, factor: 1.5, longestMs: longestCheckPauseMs }))
      } else checks = 0
    }
    if (workflowInfo().continueAsNewSuggested) return goOn()
  }
  return (await finishCrawl({ sourceId, crawlId })) ? 'done' : 'gone'
}

const longestPauseMs = 30_000
const longestCheckPauseMs = 10_000

/** Removes a source; repeats until nothing of it is left. */
export const sourceDeletionWorkflow: WorkflowOf<typeof sourceDeletionContract> = async (input) => {
  setCurrentDetails('Removing the source and its pages; repeated while a store is away.')
  await deleteSource(input)
  setCurrentDetails('Done: nothing of the source is left.')
  return { sourceId: input.sourceId, outcome: 'deleted' }
}
