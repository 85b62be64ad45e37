import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow of one crawl of a source. It carries ids and counts; addresses and texts stay in the database. Of several
 * at once, one crawls (`services/sources/crawl.ts`).
 */
export const crawlContract = {
  type: workflowType('crawlWorkflow'),
  queue: 'crawls',
  id: ({ sourceId, crawlKey }) => `crawl/${sourceId}${crawlKey === undefined ? '' : `/${crawlKey}`}`,
  input: ({ sourceId }) => ({ sourceId }),
  summary: ({ sourceId, assistantId }) => `Crawl source ${sourceId} of assistant ${assistantId}`,
  details: () => 'Visits pages, has them embedded, and takes their new texts into the search.',
  attributes: ({ userId, assistantId }) => ({
    UserId: userId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: CrawlKey
  start: CrawlKey & { userId: string; assistantId: string }
  input: CrawlInput
  result: CrawlResult
}>

interface CrawlKey {
  sourceId: string
  /** Absent for one that a schedule starts: Temporal appends the time. */
  crawlKey?: string
}

export interface CrawlInput {
  sourceId: string
  /** Set when a long crawl continues as new. */
  progress?: { crawlId: string; batch: number }
}

/** `gone`: the source is, or another crawl has taken its place. */
export type CrawlResult = 'done' | 'gone'

export interface CrawlStepInput {
  sourceId: string
  crawlId: string
}

/**
 * `more`: addresses wait. `busy`: too many sources of this user are being crawled. `full`: nothing is visited until the
 * texts of the pages that it may have are read.
 */
export type CrawlStepResult = 'more' | 'done' | 'busy' | 'full' | 'gone'

/** The workflow that removes a source with its pages. */
export const sourceDeletionContract = {
  type: workflowType('sourceDeletionWorkflow'),
  queue: 'deletions',
  id: ({ sourceId }) => `source-deletion/${sourceId}`,
  input: ({ sourceId }) => ({ sourceId }),
  summary: ({ sourceId, assistantId }) => `Delete source ${sourceId} of assistant ${assistantId}`,
  attributes: ({ userId, assistantId }) => ({
    UserId: userId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: { sourceId: string }
  start: { sourceId: string; assistantId: string; userId: string }
  input: { sourceId: string }
  result: { sourceId: string; outcome: 'deleted' }
}>
