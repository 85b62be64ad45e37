import { cancellationSignal } from '@temporalio/activity'
import type { CrawlStepInput, CrawlStepResult } from '../../domain/contracts/crawl.ts'
import { AppError, isNotFound } from '../../domain/errors.ts'
import { type CrawlPagesDeps, crawlPages } from '../../services/sources/crawl-pages.ts'
import { beginCrawl, finishCrawl, settlePages } from '../../services/sources/crawl.ts'
import { type DeleteSourceDeps, deleteSource } from '../../services/sources/delete-source.ts'
import { durable } from '../durable.ts'

export type CrawlActivityDeps = CrawlPagesDeps &
  DeleteSourceDeps & {
    /** Whether an error means that a server which the service needs is unreachable. */
    isUnavailable: (error: unknown) => boolean
  }

/** The steps of a crawl. Each can be repeated and continues where it stopped. */
export function createCrawlActivities(deps: CrawlActivityDeps) {
  const step = <Input, Output>(work: (input: Input) => Promise<Output>) =>
    durable(work, (error) =>
      deps.isUnavailable(error)
        ? new AppError('unavailable', 'The database does not answer.', { cause: error })
        : error,
    )

  return {
    beginCrawl: step((input: CrawlStepInput) => beginCrawl(deps.collections, input)),

    crawlPages: step(async (input: CrawlStepInput & { batch: number }): Promise<CrawlStepResult> => {
      try {
        return await crawlPages(deps, input, cancellationSignal())
      } catch (error) {
        // The source or its assistant was deleted under it.
        if (isNotFound(error)) return 'gone'
        throw error
      }
    }),

    settlePages: step((input: CrawlStepInput) => settlePages(deps.collections, input)),

    finishCrawl: step((input: CrawlStepInput) => finishCrawl(deps, input, cancellationSignal())),

    deleteSource: step(async ({ sourceId }: { sourceId: string }) => {
      if (!(await deleteSource(deps, sourceId, cancellationSignal())))
        throw new AppError('unavailable', 'Parts of the source have not been removed yet.')
    }),
  }
}
