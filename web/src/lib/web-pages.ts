import type { Turn } from './conversation.ts'

/** A page that a web search has found. */
export interface WebPage {
  url: string
  title: string
  /** The name of the site: its host. */
  site: string
  text: string
}

const shown = 6

/** The pages that the web searches of a turn have found: those that the answer names before the others. */
export function webPagesOf({ answers, results }: Pick<Turn, 'answers' | 'results'>, answer: string): WebPage[] {
  const pages = new Map<string, WebPage>()
  for (const { data } of answers)
    for (const call of data.tool_calls ?? []) {
      const result = call.name === 'web_search' ? results.get(call) : undefined
      for (const page of pagesIn(result?.data.content ?? '')) if (!pages.has(page.url)) pages.set(page.url, page)
    }
  const found = [...pages.values()]
  const isNamed = ({ url }: WebPage) => answer.includes(url)
  return [...found.filter(isNamed), ...found.filter((page) => !isNamed(page))].slice(0, shown)
}

/** A result lists each page as `[number] title`, its address, and an excerpt. */
function pagesIn(result: string): WebPage[] {
  return [...result.matchAll(/^\[\d{1,3}\] (.*)\n(https?:\/\/\S+)(?:\n((?!\[\d).*))?$/gm)]
    .slice(0, 100)
    .flatMap((found) => {
      const [, title = '', url = '', text = ''] = found
      if (!URL.canParse(url)) return []
      return [{ url, title, text, site: new URL(url).hostname.replace(/^www\./, '') }]
    })
}
