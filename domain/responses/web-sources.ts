import type { Message } from '../messages.ts'
import { isOfClient } from './ids.ts'
import type { UrlCitation } from './items.ts'

/** A page that a web search has found. */
export interface WebSource {
  title: string
  url: string
}

/** Limits, because threads and models can hold anything. A run finds, and a text names, far less. */
const maxSources = 200
const maxCitations = 1000

/** The pages in a result of the tool `web_search`, which lists each as `[number] title`, its address, and an excerpt. */
export function sourcesIn(result: string): WebSource[] {
  const sources: WebSource[] = []
  for (const [, title = '', url = ''] of result.matchAll(/^\[\d{1,3}\] (.*)\n(https?:\/\/\S+)$/gm)) {
    if (sources.length === maxSources) break
    sources.push({ title, url })
  }
  return sources
}

/**
 * The pages that web searches had found before each of these answers, by its id: what is found later does not change what
 * an answer cites. What a client has sent as the result of a search was found by nobody here.
 */
export function sourcesBefore(messages: readonly Message[]): Map<string, WebSource[]> {
  const before = new Map<string, WebSource[]>()
  const searches = new Set<string>()
  let found: WebSource[] = []
  for (const { type, data } of messages) {
    if (type === 'AIMessage') {
      before.set(data.id, found)
      for (const { name, id } of data.tool_calls ?? []) if (name === 'web_search') searches.add(id)
    } else if (type === 'ToolMessage' && searches.has(data.tool_call_id) && !isOfClient(data.id)) {
      if (found.length === maxSources) continue
      const pages = new Map([...found, ...sourcesIn(data.content)].map((source) => [source.url, source]))
      found = [...pages.values()].slice(0, maxSources)
    }
  }
  return before
}

/** Where a text names pages by their addresses; a link of Markdown is cited as a whole. */
export function urlCitations(text: string, sources: readonly WebSource[]): UrlCitation[] {
  const citations: UrlCitation[] = []
  const isCited = new Uint8Array(text.length)
  // The longer address first, so that none is found within another.
  for (const { title, url } of sources.toSorted((a, b) => b.url.length - a.url.length)) {
    for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + url.length)) {
      if (citations.length === maxCitations) return inOrder(citations)
      if (isCited[at] === 1) continue
      const link = /\[[^[\]\n]{0,500}\]\($/.exec(text.slice(Math.max(0, at - 504), at))
      const hasEnd = link !== null && text[at + url.length] === ')'
      const start = hasEnd ? at - link[0].length : at
      const end = at + url.length + (hasEnd ? 1 : 0)
      if (isCited.subarray(start, end).includes(1)) continue
      isCited.fill(1, start, end)
      citations.push({ type: 'url_citation', url, title, start_index: start, end_index: end })
    }
  }
  return inOrder(citations)
}

function inOrder(citations: UrlCitation[]): UrlCitation[] {
  return citations.toSorted((a, b) => a.start_index - b.start_index)
}
