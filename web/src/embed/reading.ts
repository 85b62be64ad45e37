import { micromark } from 'micromark'
import { gfmTable, gfmTableHtml } from 'micromark-extension-gfm-table'
import { isTooDense } from '../lib/markdown/bounds.ts'
import { TextReader } from '../lib/markdown/text-reader.ts'

interface HtmlAnswer {
  id: number
  html: string | undefined
}

/** Undefined: the text is shown as it is, or is needed no more. */
export type ReadHtml = (text: string, signal: AbortSignal) => Promise<string | undefined>

/** Markdown as HTML. Undefined if reading it would take too long. */
const htmlOf = (text: string): string | undefined =>
  isTooDense(text) ? undefined : micromark(text, { extensions: [gfmTable()], htmlExtensions: [gfmTableHtml()] })

/** Reads Markdown in a worker, which is this script again; a page that allows no workers reads it itself. */
export function createReading(script: string): ReadHtml {
  const reader = new TextReader<HtmlAnswer>(() => new Worker(addressFor(script), { name: 'markdown' }))
  let isAllowed = true
  return async (text, signal) => {
    const answer = isAllowed ? await reader.ask({ text }, signal, 'first') : 'none'
    if (answer === 'none') {
      // Each further attempt would be one more complaint of the browser's.
      isAllowed = false
      return htmlOf(text)
    }
    return answer === undefined || answer === 'late' ? undefined : answer.html
  }
}

let blob: string | undefined

/** Scripts of other origins are no workers, but a worker may load them. */
function addressFor(script: string): string {
  if (new URL(script).origin === window.location.origin) return script
  const source = `importScripts(${JSON.stringify(script)})`
  return (blob ??= URL.createObjectURL(new Blob([source], { type: 'text/javascript' })))
}

/** What is used of the scope of a worker; the types of pages have no such scope. */
interface Scope {
  postMessage: (answer: HtmlAnswer | 'ready') => void
  addEventListener: (name: 'message', listener: (event: MessageEvent<{ id: number; text: string }>) => void) => void
}

/** What the script does in a worker. */
export function readForPage(): void {
  const scope = globalThis as unknown as Scope
  scope.addEventListener('message', ({ data: { id, text } }) => scope.postMessage({ id, html: htmlOf(text) }))
  scope.postMessage('ready')
}
