import { AppError } from '../../domain/errors.ts'
import type { BudgetRecord } from '../../domain/records/budget.ts'
import { heldMax } from '../stores/budgets.ts'

type Reason = { what: 'runs' | 'tokens' | 'money'; isReserved: boolean }

/** When a run that was refused because of reservations may be tried again. */
const reservedRetrySeconds = 10

/** What keeps a budget from admitting another run; undefined if nothing does. */
export function exceededBy(budget: BudgetRecord): Reason | undefined {
  const { held = [] } = budget
  const heldSum = (what: 'tokens' | 'money') => held.reduce((total, hold) => total + hold[what], 0)
  if (budget.money >= budget.max_money) return { what: 'money', isReserved: false }
  if (budget.runs >= budget.max_runs) return { what: 'runs', isReserved: false }
  if (budget.tokens >= budget.max_tokens) return { what: 'tokens', isReserved: false }
  if (budget.money + heldSum('money') >= budget.max_money) return { what: 'money', isReserved: true }
  if (budget.tokens + heldSum('tokens') >= budget.max_tokens) return { what: 'tokens', isReserved: true }
  return held.length >= heldMax ? { what: 'runs', isReserved: true } : undefined
}

/** Whether its tokens or its money are used up, without what is reserved. */
export function isSpent({ money, max_money: maxMoney, tokens, max_tokens: maxTokens }: BudgetRecord): boolean {
  return money >= maxMoney || tokens >= maxTokens
}

function whoseOf({ _id }: BudgetRecord): string {
  if (_id.startsWith('member/')) return 'that you have in this project'
  return _id.startsWith('project/') ? 'of this project' : 'of public callers of this assistant'
}

/** Public callers are not told what the owner has and spends. */
export function refusal(budget: BudgetRecord, isPublic: boolean, now: Date): AppError {
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
