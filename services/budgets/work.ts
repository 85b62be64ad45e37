import { AppError } from '../../domain/errors.ts'
import { type ModelPrices, costOfWork } from '../../domain/model-prices.ts'
import { budgetId, dayOf } from '../../domain/records/budget.ts'
import type { ProjectRecord, Work } from '../../domain/records/project.ts'
import type { Collections } from '../collections.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { assistantStore } from '../stores/assistants.ts'
import { projectStore } from '../stores/projects.ts'
import type { BudgetCounting } from './counting.ts'

interface WorkUsageDeps {
  collections: Pick<Collections, 'projects' | 'assistants'>
  budgetCounting: Pick<BudgetCounting, 'addWork' | 'requireUnspent'>
  models: ModelsNow
  /** Undefined without a model: files are searched by their words, which costs nothing. */
  embeddingModel: string | undefined
  onError(error: unknown): void
}

/**
 * Whose work it is: that of a project, or of the project of an assistant or vector store. `budgets`: those of the run for
 * which it is done; it counts in all of them.
 */
type Worker = { projectId: string; budgets?: string[] | undefined } | { assistantId: string }

export type WorkUsage = ReturnType<typeof createWorkUsage>

/** Days with work that a project remembers. */
const daysRetained = 92

/**
 * Counts what is done beside the answers of models for a project, on the day (UTC) and in its budget: reading and embedding
 * of files and pages, and the execution of code.
 */
export function createWorkUsage({ collections, budgetCounting, models, embeddingModel, onError }: WorkUsageDeps) {
  const projects = projectStore(collections)

  async function projectOf(worker: Worker): Promise<string | undefined> {
    if ('projectId' in worker) return worker.projectId
    return (await assistantStore(collections).findLocationOfAny(worker.assistantId))?.project_id
  }

  async function add(worker: Worker, work: Partial<Work>): Promise<void> {
    const projectId = await projectOf(worker)
    if (projectId === undefined) return
    const day = dayOf(new Date())
    const { embedding_tokens: tokens = 0 } = embeddingModel === undefined ? {} : work
    const before = await projects.addWork(projectId, day, { ...work, embedding_tokens: tokens })
    const days = Object.keys(before?.work ?? {}).toSorted()
    if (!days.includes(day) && days.length >= daysRetained)
      await projects.forgetWork(projectId, days.slice(0, days.length - daysRetained + 1))
    const money = costOfWork(models.current().prices, embeddingModel, { ...work, embedding_tokens: tokens })
    if (tokens === 0 && money === 0) return
    const ofRun = 'budgets' in worker ? (worker.budgets ?? []) : []
    for (const id of new Set([budgetId('project', projectId), ...ofRun]))
      await budgetCounting.addWork(id, { tokens, money })
  }

  return {
    /** Never throws: what was done stays done. */
    note: (worker: Worker, work: Partial<Work>): Promise<void> => add(worker, work).catch(onError),

    /** Throws `too_many_requests` or `payment_required` if the tokens or the money of the project's budget are used up. */
    async admit(worker: Worker): Promise<void> {
      const projectId = await projectOf(worker)
      if (projectId !== undefined) await budgetCounting.requireUnspent(projectId)
    },

    /** As `admit`, for work that fails later and says why. */
    async refusalOf(worker: Worker): Promise<string | undefined> {
      try {
        await this.admit(worker)
        return undefined
      } catch (error) {
        if (error instanceof AppError && (error.code === 'too_many_requests' || error.code === 'payment_required'))
          return error.message
        throw error
      }
    },
  }
}

/** The work of several projects together, of all days or from one on, with its cost. */
export function sumWork(
  all: Pick<ProjectRecord, 'work'>[],
  { prices, embeddingModel, since = '' }: { prices: ModelPrices; embeddingModel: string | undefined; since?: string },
): Work & { cost: number } {
  const days = all.flatMap(({ work = {} }) => Object.entries(work).flatMap(([day, one]) => (day >= since ? [one] : [])))
  const sum = (member: keyof Work) => days.reduce((total, day) => total + (day[member] ?? 0), 0)
  const exact = {
    embedding_tokens: sum('embedding_tokens'),
    recognition_seconds: sum('recognition_seconds'),
    crawled_pages: sum('crawled_pages'),
    code_seconds: sum('code_seconds'),
    transcription_seconds: sum('transcription_seconds'),
    speech_characters: sum('speech_characters'),
  }
  return {
    ...exact,
    recognition_seconds: Math.round(exact.recognition_seconds),
    code_seconds: Math.round(10 * exact.code_seconds) / 10,
    transcription_seconds: Math.round(exact.transcription_seconds),
    cost: costOfWork(prices, embeddingModel, exact),
  }
}
