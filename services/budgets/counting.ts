import type { ToolType } from '../../domain/acting.ts'
import { AppError } from '../../domain/errors.ts'
import { costOf } from '../../domain/model-prices.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import {
  type BudgetRecord,
  type BudgetReservation,
  budgetId,
  dayOf,
  memberBudgetId,
} from '../../domain/records/budget.ts'
import { type ModelUsage, type RunKey, type RunOverrides, type RunRecord, isOpenRun } from '../../domain/records/run.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import type { Collections } from '../collections.ts'
import type { ModelsNow } from '../models/live-models.ts'
import { budgetStore, reservationsMax } from '../stores/budgets.ts'
import { runStore } from '../stores/runs.ts'
import { type EndedRun, costOfUsages, usagesOf, wasUnused } from './cost-of-run.ts'
import { tokenLimits, usageByModel } from './usage.ts'

interface BudgetCountingDeps extends EstimateDeps {
  collections: Pick<Collections, 'budgets' | 'runs' | 'checkpoints'>
  now?(): Date
}

export type BudgetCounting = ReturnType<typeof createBudgetCounting>

/** A run as far as its budgets are concerned. */
type Counted = Pick<RunRecord, '_id' | 'budgets'>

const dayMs = 86_400_000
/** How often the statement is tried, because other processes may count in between. */
const triesMax = 10

/**
 * Counts runs against the budgets of their project and of their assistant's public callers. The record of an
 * assistant names its budgets, so that a run without budgets needs no statement.
 *
 * A budget lists the open runs that it has admitted, each with its estimated cost. Every change is one statement that
 * adds the run to the list or requires it to be there, so that a run is settled or given back once, whichever process
 * does it and however often. The list belongs to the day of the record and is emptied with it.
 */
export function createBudgetCounting(deps: BudgetCountingDeps) {
  const { now = () => new Date(), models } = deps
  const store = budgetStore(deps.collections)
  const leftovers = createLeftovers({ ...deps, now }, { giveBack, finalizeStored })

  return {
    /**
     * Counts the run in each budget and reserves what it may cost. Throws `too_many_requests` if today's runs or tokens
     * are used up or reserved, `payment_required` if the money is. Returns the ids of the budgets, which are stored
     * with the run as `budgets`. `userId`: who starts it, whose budget in the project counts, too. A run that is then
     * not stored is given back. Two attempts to start the same run count it once. `inherited` are the budgets of the
     * run that asks.
     */
    async admit(
      runId: string,
      isPublic: boolean,
      question: ExpectedQuestion & { userId?: string },
      inherited: string[] = [],
    ) {
      const { assistant, userId } = question
      const ofCaller = userId === undefined ? undefined : memberBudgetId(assistant.project_id, userId)
      const counts = (id: string) =>
        id.startsWith('member/') ? !isPublic && id === ofCaller : isPublic || isOfProject(id)
      const own = (assistant.budgets ?? []).filter(counts)
      const ids = [...new Set([...own, ...inherited])]
      if (ids.length === 0) return []
      const reservation = { run: runId, ...estimateOf(deps, question), at: now() }
      try {
        for (const id of ids) {
          const exceeded = await take(id, reservation)
          if (exceeded !== undefined) throw refusal(exceeded, isPublic, now())
        }
      } catch (error) {
        await giveBack({ _id: runId, budgets: ids })
        throw error
      }
      return ids
    },

    giveBack,
    recordCost,
    finalizeStored,
    addLate: (run: Late, usages: ModelUsage[]) => addLate(deps, run, usages),

    addWork,

    /** Throws as `admit` if the tokens or the money of the project are used up today. Reservations do not count. */
    async requireUnspent(projectId: string): Promise<void> {
      const budget = await store.find(budgetId('project', projectId))
      if (budget !== null && daysAt(now()).includes(budget.day) && isSpent(budget)) throw refusal(budget, false, now())
    },

    /** Whether the tokens or the money of one of these budgets are used up today. Reservations do not count. */
    async areSpent(ids: string[]): Promise<boolean> {
      if (ids.length === 0) return false
      const found = await store.findAll(ids)
      return found.some((budget) => daysAt(now()).includes(budget.day) && isSpent(budget))
    },

    /** Counts runs that have ended but are still listed as open, because a process died. */
    countLeftovers: leftovers.countLeftovers,
    estimateOf: (question: ExpectedQuestion) => estimateOf(deps, question),
  }

  /** Undoes `admit` for a run that was not stored, not started or taken back. Safe to repeat, and for any other run. */
  async function giveBack({ _id, budgets: ids = [] }: Counted): Promise<void> {
    if (ids.length > 0) await store.giveBack(ids, _id)
  }

  /**
   * Replaces the estimate of an ended run by its cost; a run that was not used is given back. Call it when the end is
   * stored. Safe to repeat. Does nothing for an open run. A run counts on the day on which it began: if this day is
   * over, its cost is not counted any more.
   */
  async function recordCost(run: EndedRun, usages = usagesOf(run)): Promise<void> {
    if (run.budgets === undefined || isOpenRun(run)) return
    if (usages.length === 0 && wasUnused(run)) return giveBack(run)
    await store.recordCost(run.budgets, run._id, costOfUsages(models.current().prices, usages))
  }

  /** As `recordCost`, with what is stored of the run and its steps. */
  async function finalizeStored({ _id, thread_id, budgets: ids }: Counted & RunKey): Promise<void> {
    const run = ids && (await runStore(deps.collections).findInThread({ _id, thread_id }))
    if (!run) return
    const usages = run.usage === undefined ? await usageByModel(deps.collections, run) : undefined
    await recordCost({ ...run, budgets: ids }, usages)
  }

  /** Adds to a budget, if there is one of this id, what was done today beside the answers of models. */
  async function addWork(id: string, cost: { tokens: number; money: number }): Promise<void> {
    for (let tries = 1; tries <= triesMax; tries++) {
      const days = daysAt(now())
      const budget = await store.find(id)
      if (budget === null) return
      if (!days.includes(budget.day)) await store.beginDay(budget, days[0])
      if (await store.addWork(id, days, cost)) return
    }
  }

  /** Counts one run in one statement, unless a limit is reached: then returns the budget. */
  async function take(id: string, reservation: BudgetReservation): Promise<BudgetRecord | undefined> {
    for (let tries = 1; ; tries++) {
      const days = daysAt(now())
      if (await store.take(id, days, reservation)) return undefined
      const budget = await store.find(id)
      // It was removed a moment ago.
      if (budget === null) return undefined
      if (!days.includes(budget.day)) await store.beginDay(budget, days[0])
      else if (budget.held?.some(({ run }) => run === reservation.run)) return undefined
      else if (tries >= triesMax) return budget
      else if (exceededBy(budget) !== undefined && !(await leftovers.countLeftovers(budget))) return budget
    }
  }
}

const isOfProject = (id: string) => id.startsWith('project/')

type Late = Counted & Pick<RunRecord, 'created_at'>

/** Adds what became known of a run after it was settled. */
async function addLate(
  { collections, models }: Pick<BudgetCountingDeps, 'collections' | 'models'>,
  run: Late,
  usages: ModelUsage[],
): Promise<void> {
  if (run.budgets === undefined) return
  const cost = costOfUsages(models.current().prices, usages)
  await budgetStore(collections).addLate(run.budgets, run._id, dayOf(run.created_at), cost)
}

/**
 * Today, and tomorrow: clocks differ, and when another process has begun the next day already, this one joins it. So
 * at most one process resets the counts of a day.
 */
function daysAt(time: Date): [today: string, tomorrow: string] {
  return [dayOf(time), dayOf(new Date(time.getTime() + dayMs))]
}

interface LeftoversDeps {
  collections: Pick<Collections, 'budgets' | 'runs'>
  now(): Date
}

interface Count {
  giveBack(run: Pick<RunRecord, '_id' | 'budgets'>): Promise<void>
  finalizeStored(run: Pick<RunRecord, '_id' | 'thread_id' | 'budgets'>): Promise<void>
}

/** Time between two looks at the open runs of one budget, by any process. */
const pauseMs = 10_000
/** A run is stored within this time after it was admitted, and settled within this time after its end. */
const graceMs = 60_000

/**
 * Compares the open runs of a budget with their records. A process that dies between two statements leaves a run in the
 * list that has ended, or was never stored.
 */
function createLeftovers({ collections, now }: LeftoversDeps, count: Count) {
  return {
    /** Returns whether something was left over, and is counted now. Looks every ten seconds at most. */
    async countLeftovers({ _id, held = [] }: Pick<BudgetRecord, '_id' | 'held'>): Promise<boolean> {
      if (held.length === 0) return false
      const time = now().getTime()
      if (!(await budgetStore(collections).takeTurn(_id, new Date(time), pauseMs))) return false
      const known = await runStore(collections).statesOfAny(held.map(({ run }) => run))
      const byId = new Map(known.map((run) => [run._id, run]))
      const isLate = (since: Date | undefined) => since !== undefined && since.getTime() < time - graceMs
      let found = 0
      for (const reservation of held) {
        const run = byId.get(reservation.run)
        if (run === undefined ? !isLate(reservation.at) : !(run.status === 'success' || isLate(run.finished_at)))
          continue
        found += 1
        const counted = { _id: reservation.run, budgets: [_id] }
        await (run === undefined
          ? count.giveBack(counted)
          : count.finalizeStored({ ...counted, thread_id: run.thread_id }))
      }
      return found > 0
    },
  }
}

interface EstimateDeps {
  models: ModelsNow
  contextWindowOf(model: string): number
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
}

interface ExpectedQuestion {
  assistant: AssistantRecord
  overrides?: RunOverrides
  /** Bytes of the conversation and of what is asked now; undefined if they are not known. */
  bytes?: number | undefined
}

/**
 * What one answer may cost: as many tokens as fit into the question, and the limit of the answer. Text has at most one
 * token a byte, so that a short conversation does not count as a whole window. With tools it does: nobody knows yet how
 * long their descriptions and results are. Only one step of the run is included.
 */
function estimateOf(
  { models, contextWindowOf, assistantConfigs }: EstimateDeps,
  { assistant, overrides = {}, bytes = Infinity }: ExpectedQuestion,
): { tokens: number; money: number } {
  const { prices, defaultModel } = models.current()
  const settings = assistantConfigs.settingsOf(assistant)
  const { model = settings.model ?? defaultModel, system_message: systemMessage = settings.systemMessage } = overrides
  const window = contextWindowOf(model)
  const { questionTokens, answerTokens } = tokenLimits(window, overrides.max_tokens ?? overrides.max_completion_tokens)
  const texts = [systemMessage, overrides.instructions, overrides.response_format_json]
  const mayUse = (type: ToolType) => overrides.server_tools?.includes(type) ?? true
  const hasTools =
    overrides.tools_json !== undefined ||
    (assistant.has_files !== false && mayUse('retrieval')) ||
    settings.tools.some(({ type }) => type !== 'retrieval' && mayUse(type))
  const sentTokens =
    (hasTools ? Infinity : bytes) + texts.reduce((total, text = '') => total + Buffer.byteLength(text), 0)
  const prompt = Math.ceil(Math.max(0, Math.min(questionTokens, sentTokens)))
  // A caller may name any limit.
  const completion = Math.ceil(Math.min(answerTokens, window))
  const money = costOf(prices, model, { prompt_tokens: prompt, completion_tokens: completion })
  return { tokens: prompt + completion, money }
}

type Reason = { what: 'runs' | 'tokens' | 'money'; isReserved: boolean }

/** When a run that was refused because of reservations may be tried again. */
const reservedRetrySeconds = 10

/** What keeps a budget from admitting another run; undefined if nothing does. */
function exceededBy(budget: BudgetRecord): Reason | undefined {
  const { held = [] } = budget
  const reservedSum = (what: 'tokens' | 'money') => held.reduce((total, reservation) => total + reservation[what], 0)
  if (budget.money >= budget.max_money) return { what: 'money', isReserved: false }
  if (budget.runs >= budget.max_runs) return { what: 'runs', isReserved: false }
  if (budget.tokens >= budget.max_tokens) return { what: 'tokens', isReserved: false }
  if (budget.money + reservedSum('money') >= budget.max_money) return { what: 'money', isReserved: true }
  if (budget.tokens + reservedSum('tokens') >= budget.max_tokens) return { what: 'tokens', isReserved: true }
  return held.length >= reservationsMax ? { what: 'runs', isReserved: true } : undefined
}

/** Whether its tokens or its money are used up, without what is reserved. */
function isSpent({ money, max_money: maxMoney, tokens, max_tokens: maxTokens }: BudgetRecord): boolean {
  return money >= maxMoney || tokens >= maxTokens
}

function whoseOf({ _id }: BudgetRecord): string {
  if (_id.startsWith('member/')) return 'that you have in this project'
  return _id.startsWith('project/') ? 'of this project' : 'of public callers of this assistant'
}

/** Public callers are not told what the owner has and spends. */
function refusal(budget: BudgetRecord, isPublic: boolean, now: Date): AppError {
  const { what, isReserved } = exceededBy(budget) ?? { what: 'runs', isReserved: true }
  const code = what === 'money' ? 'payment_required' : 'too_many_requests'
  const whose = whoseOf(budget)
  if (isReserved) {
    const message = isPublic
      ? 'This assistant gives as many answers at once as its limit for today allows. Try again in a moment.'
      : `The budget ${whose} for today has nothing left beside what the answers under way may cost (${what}). Try again when they have ended; its owner can raise it.`
    return new AppError(code, message, { retryAfterSeconds: reservedRetrySeconds })
  }
  const limit = {
    money: `${budget.max_money} of money`,
    runs: `${budget.max_runs} runs`,
    tokens: `${budget.max_tokens} tokens`,
  }
  const message = isPublic
    ? 'This assistant has reached its limit for today. Try again tomorrow (UTC).'
    : `The budget ${whose} for today is used up: ${limit[what]}. It begins anew at 00:00 UTC; its owner can raise it.`
  const tomorrow = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)
  return new AppError(code, message, { retryAfterSeconds: Math.max(1, Math.ceil((tomorrow - now.getTime()) / 1000)) })
}
