import type { ColouredLine } from './colour.ts'
import type { Written } from './read.ts'
import type { ReadAnswer } from './requests.ts'
import { TextReader } from './text-reader.ts'

/** The worker in which the answers of this page are read. */
const reader = new TextReader<Exclude<ReadAnswer, 'ready'>>(
  () => new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'markdown' }),
)

/** What came back for a text; null: it is shown as it is. */
const read = new Map<string, Written[] | null>()
const coloured = new Map<string, ColouredLine[] | null>()
/** Texts that are remembered. The oldest are forgotten first. */
const mostRemembered = 600

/** Starts the worker, so that the first answer finds it ready. */
export const prepareReader = (): void => reader.prepare()

const keyOf = (text: string, language: string) => `${language}\n${text}`

export const knownMarkdown = (text: string): Written[] | null | undefined => read.get(text)

export const knownColours = (text: string, language: string): ColouredLine[] | null | undefined =>
  coloured.get(keyOf(text, language))

/** Reads Markdown elsewhere. What takes too long is shown as it is; undefined: the page needs it no more. */
export async function readMarkdown(text: string, signal: AbortSignal): Promise<Written[] | null | undefined> {
  const answer = await reader.ask({ text }, signal, 'first')
  if (answer === undefined || answer === 'none') return answer && null
  return remember(read, text, answer === 'late' ? null : (answer.written ?? null))
}

/** Colours code elsewhere, after all texts that wait to be read. */
export async function colour(
  text: string,
  language: string,
  signal: AbortSignal,
): Promise<ColouredLine[] | null | undefined> {
  const answer = await reader.ask({ text, language }, signal, 'last')
  if (answer === undefined || answer === 'none') return answer && null
  return remember(coloured, keyOf(text, language), answer === 'late' ? null : (answer.coloured ?? null))
}

function remember<T>(known: Map<string, T>, key: string, value: T): T {
  const oldest = known.size >= mostRemembered ? known.keys().next().value : undefined
  if (oldest !== undefined) known.delete(oldest)
  known.set(key, value)
  return value
}
