import { invalidInput } from '../../domain/errors.ts'
import { type SourceRecord, type SourceRefresh, type SourceType, sourceLimits } from '../../domain/records/source.ts'
import { isTimezone, problemOfCron } from '../../domain/schedules/next-times.ts'
import { canonicalAddress } from '../../domain/sources/addresses.ts'
import { problemOfGlob } from '../../domain/sources/globs.ts'

export interface NewSource {
  type: SourceType
  url: string
  max_depth?: number
  max_pages?: number
  include?: string[]
  exclude?: string[]
  refresh?: SourceRefresh
}

const defaultDepth = 5
const defaultPages = 500

/** What a request asks for, complete. Throws `invalid_input` and names the member. */
export function settingsOf(
  given: NewSource,
): Pick<SourceRecord, 'type' | 'url' | 'max_depth' | 'max_pages' | 'include' | 'exclude' | 'refresh'> {
  const url = canonicalAddress(given.url.trim())
  if (url === undefined)
    throw invalidInput(['body', 'url'], 'must be an http or https URL without user name and password')
  for (const member of ['include', 'exclude'] as const) requireSimple(given[member] ?? [], member)
  return {
    type: given.type,
    url,
    max_depth: given.type === 'page' ? 0 : (given.max_depth ?? defaultDepth),
    max_pages: given.type === 'page' ? 1 : (given.max_pages ?? defaultPages),
    include: given.include ?? [],
    exclude: given.exclude ?? [],
    ...(given.refresh === undefined ? {} : { refresh: refreshOf(given.refresh) }),
  }
}

function requireSimple(globs: string[], member: string): void {
  for (const [index, glob] of globs.entries()) {
    const problem = problemOfGlob(glob)
    if (problem !== undefined) throw invalidInput(['body', member, index], problem)
  }
}

function refreshOf({ cron, timezone, interval_seconds: seconds }: SourceRefresh): SourceRefresh {
  const at = (member: string) => ['body', 'refresh', member]
  if (cron !== undefined && seconds !== undefined)
    throw invalidInput(at('interval_seconds'), 'cannot be given beside cron')
  if (seconds !== undefined) {
    if (seconds < sourceLimits.interval_seconds.minimum)
      throw invalidInput(at('interval_seconds'), `must be at least ${sourceLimits.interval_seconds.minimum}`)
    return { interval_seconds: seconds }
  }
  if (cron === undefined) throw invalidInput(at('cron'), 'is required, or interval_seconds', 'missing')
  const problem = problemOfCron(cron)
  if (problem !== undefined) throw invalidInput(at('cron'), problem)
  if (timezone !== undefined && !isTimezone(timezone))
    throw invalidInput(at('timezone'), 'is not the name of a time zone')
  return { cron, timezone: timezone ?? 'UTC' }
}
