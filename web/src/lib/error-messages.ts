import type { ApiError } from '../../../client/src/index.ts'
import { texts } from '../texts/index.ts'
import { language } from './language.ts'
import { labelOf } from './schema.ts'
import { sellsPlans } from './sells-plans.ts'

const t = texts.errors
const statuses: Readonly<Record<number, string>> = t.statuses
const runs: Readonly<Record<string, string>> = t.runs
/** The service speaks English. */
const { translated } = language === 'en' ? { translated: undefined } : await import('./service-sentences.ts')

/** A sentence of the service in the reader's language; undefined if there are no words for it. */
export function sentenceOf(said: string): string | undefined {
  // The service does not know what the page has to offer.
  if (said.startsWith('You have as many chats')) return t.tooManyChats[sellsPlans() ? 'plans' : 'deleting']
  return translated === undefined ? said : translated(said)
}

/** The same as a sentence; in the words of the service if there are no others. */
export const sayingOf = (said: string): string => sentence(sentenceOf(said) ?? said)

/**
 * The words of the console for a refusal, in the reader's language: for the sentence of the service if there are some, else
 * for the status that it answers.
 */
export function refusalMessage({ status, fields, message }: Pick<ApiError, 'status' | 'fields' | 'message'>): string {
  if (fields.length > 0) return [...new Set(fields.map(wordsOfField))].join(' ')
  const said = /^The service answered with status \d+\.$/.test(message) ? undefined : sentenceOf(message)
  return said ?? statusMessages(status)
}

const statusMessages = (status: number): string =>
  statuses[status] ?? statuses[status >= 500 ? 503 : 400] ?? texts.offline

/** Why a run failed, in the reader's language. */
export const runErrorMessage = (type: string): string => runs[type] ?? runs['internal_error'] ?? ''

/** Why one member of a request is wrong, for people who see the member. */
export const reasonMessages = (msg: string) => sentence(reasonOf(msg))

function wordsOfField({ loc, msg }: ApiError['fields'][number]): string {
  const reason = reasonOf(msg)
  const name = loc.slice(1).findLast((part) => typeof part === 'string')
  if (name === undefined) return sentence(reason)
  const known = Object.hasOwn(t.members, name) ? t.members[name as keyof typeof t.members] : undefined
  return ended(t.member(known ?? labelOf(String(name).replace(/^type==agent\//, ''), {}), reason))
}

/** In place of the words that checks of schemas use. */
const reasons: [RegExp, (amount: number) => string][] = [
  [/must be (?:<=|at most) (-?[\d.]+)/i, t.atMost],
  [/must be (?:>=|at least) (-?[\d.]+)/i, t.atLeast],
  [/(?:not have|must have) more than (\d+) characters|longer than (\d+)/i, t.tooLong],
  [/fewer than (\d+) characters|shorter than (\d+)/i, t.tooShort],
  [/not have more than (\d+) items/i, t.tooMany],
  [/must match (?:format|pattern)|must be equal to (?:one of|constant)|must match a schema/i, () => t.notValid],
  [/required|must have required/i, () => t.missing],
]

function reasonOf(msg: string): string {
  for (const [words, reason] of reasons) {
    const found = words.exec(msg)
    if (found) return reason(Number(found[1] ?? found[2]))
  }
  return sentenceOf(msg) ?? t.notValid
}

const sentence = (words: string) => ended(`${words.slice(0, 1).toUpperCase()}${words.slice(1)}`)
const ended = (words: string) => `${words}${/[.!?]$/.test(words) ? '' : '.'}`
