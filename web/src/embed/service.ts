import { ApiError, type RunSnapshot, streamRun } from '../../../client/src/index.ts'
import { textsIn } from '../texts/embed.ts'
import type { Options } from './options.ts'

type Target = Pick<Options, 'baseUrl' | 'assistantId' | 'token'>

export function run(
  { baseUrl, assistantId, token }: Target,
  threadId: string | undefined,
  { text, signal }: { text: string; signal: AbortSignal },
): AsyncGenerator<RunSnapshot> {
  return streamRun({
    baseUrl,
    signal,
    path: '/public/runs',
    ...(token !== undefined && { token: () => token }),
    body: {
      assistant_id: assistantId,
      ...(threadId !== undefined && { thread_id: threadId }),
      input: [{ type: 'human', content: text }],
    },
  })
}

/** Ends a run that the reader has stopped. */
export async function cancel({ baseUrl, token }: Target, runId: string): Promise<void> {
  const headers: HeadersInit = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const url = `${baseUrl}/public/runs/${encodeURIComponent(runId)}/cancel`
  // Also when the page is being left.
  await fetch(url, { method: 'POST', headers, keepalive: true }).catch(() => undefined)
}

/** Says whether an answer helped. */
export async function rate({ baseUrl, token }: Target, runId: string, score: 0 | 1): Promise<boolean> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  }
  const url = `${baseUrl}/public/runs/${encodeURIComponent(runId)}/feedback`
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ score }) }).catch(() => undefined)
  return response?.ok === true
}

const isReached = (baseUrl: string): Promise<boolean> =>
  fetch(`${baseUrl}/ok`, { mode: 'no-cors', cache: 'no-store' }).then(
    () => true,
    () => false,
  )

/** As the reader's browser writes times in that language: in British English otherwise than in American. */
const localeFor = (language: string): string => navigator.languages.find((tag) => tag.startsWith(language)) ?? language

/** What a refusal means to the reader: at a limit, until when. */
export async function wordsOf(error: unknown, { language, layout, baseUrl }: Options): Promise<string> {
  const texts = textsIn(language)
  // A browser does not tell a site that is not allowed from a service that does not answer.
  if (error instanceof TypeError && window.location.origin !== baseUrl && (await isReached(baseUrl)))
    return texts.notNamed(window.location.origin)
  if (!(error instanceof ApiError)) return texts.failed
  if (error.status === 401 && layout === 'page') return texts.needsLink
  if (error.status === 403 || error.status === 404) return texts.closed
  if (error.status !== 429 && error.status !== 402) return texts.failed
  if (error.retryAfterSeconds === undefined) return texts.limitedForNow
  const until = new Date(Date.now() + error.retryAfterSeconds * 1000)
  const isToday = until.toDateString() === new Date().toDateString()
  const format = new Intl.DateTimeFormat(localeFor(language), {
    ...(isToday ? {} : { weekday: 'long' }),
    hour: 'numeric',
    minute: '2-digit',
  })
  return texts.limited(format.format(until))
}
