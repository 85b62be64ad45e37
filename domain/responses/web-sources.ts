import type { Message, ToolCall } from '../messages.ts'
import type { UrlCitation } from './items.ts'

/** A page that a web search has found. */
export interface WebSource {
  title: string
  url: string
}

/** The pages in a result of the tool `web_search`, which lists each as `[number] title`, its address, and an excerpt. */
export function sourcesIn(result: string): WebSource[] {
  return [...result.matchAll(/^\[\d{1,3}\] (.*)\n(https?:\/\/\S+)$/gm)].map(([, title = '', url = '']) => ({
    title,
    url,
  }))
}

/** The pages that the web searches of these messages have found, each once. */
export function sourcesOf(messages: readonly Message[]): WebSource[] {
  const searches = new Set(
    messages.flatMap((message) =>
      message.type === 'AIMessage' ? (message.data.tool_calls ?? []).filter(isSearch).map(({ id }) => id) : [],
    ),
  )
  const found = messages.flatMap((message) =>
    message.type === 'ToolMessage' && searches.has(message.data.tool_call_id) ? sourcesIn(message.data.content) : [],
  )
  return [...new Map(found.map((source) => [source.url, source])).values()]
}

const isSearch = ({ name }: ToolCall) => name === 'web_search'

/** Where a text names pages by their addresses; a link of Markdown is cited as a whole. */
export function urlCitations(text: string, sources: WebSource[]): UrlCitation[] {
  const citations: UrlCitation[] = []
  // The longer address first, so that none is found within another.
  for (const { title, url } of sources.toSorted((a, b) => b.url.length - a.url.length)) {
    for (let at = text.indexOf(url); at >= 0; at = text.indexOf(url, at + url.length)) {
      const link = /\[[^[\]\n]{0,500}\]\($/.exec(text.slice(Math.max(0, at - 504), at))
      const hasEnd = link !== null && text[at + url.length] === ')'
      const start = hasEnd ? at - link[0].length : at
      const end = at + url.length + (hasEnd ? 1 : 0)
      if (citations.some((known) => start < known.end_index && end > known.start_index)) continue
      citations.push({ type: 'url_citation', url, title, start_index: start, end_index: end })
    }
  }
  return citations.toSorted((a, b) => a.start_index - b.start_index)
}
