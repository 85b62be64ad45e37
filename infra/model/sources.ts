import { isJsonObject } from '../../domain/is-json-object.ts'
import { type JsonObject, isArray } from './foreign-values.ts'

const maxSources = 50
const maxUrlLength = 2000
const maxTitleLength = 200

/** Pages that a server which searches names beside its text, in their order. What cannot be read is left out. */
export function createSources() {
  const found = new Map<string, string>()

  function add(url: unknown, title: unknown): void {
    if (typeof url !== 'string' || url.length > maxUrlLength || !/^https?:\/\/[^\s<>]+$/.test(url)) return
    const name =
      typeof title === 'string'
        ? title
            .replaceAll(/[[\]\s]+/g, ' ')
            .trim()
            .slice(0, maxTitleLength)
        : ''
    if (found.size < maxSources || found.has(url)) found.set(url, found.get(url) || name)
  }

  return {
    /** `annotations` of a message: `{type: "url_citation", url_citation: {url, title}}`. */
    addAnnotations(annotations: unknown[]): void {
      for (const one of annotations) {
        const citation = isJsonObject(one) ? (one['url_citation'] ?? one) : undefined
        if (isJsonObject(citation)) add(citation['url'], citation['title'])
      }
    },
    /** `citations` and `search_results` of a chunk: addresses, or `{url, title}`. */
    addUrls(entries: unknown): void {
      if (!isArray(entries)) return
      for (const entry of entries.slice(0, maxSources)) {
        if (isJsonObject(entry)) add(entry['url'] ?? entry['link'] ?? entry['uri'], entry['title'] ?? entry['name'])
        else add(entry, undefined)
      }
    },
    /** What stands in a chunk, a choice or a message beside the text, under the names that servers have for it. */
    addFrom(one: JsonObject): void {
      // Of each chunk: members are looked up by constant names.
      const { citations, search_results: results, web_search: searched, references, context, search_info: info } = one
      if (citations) this.addUrls(citations)
      if (results) this.addUrls(results)
      if (searched) this.addUrls(searched)
      if (references) this.addUrls(references)
      if (isJsonObject(context)) this.addUrls(context['citations'])
      if (isJsonObject(info)) this.addUrls(info['search_results'])
    },
    /** As Markdown that follows the answer; texts refer to the pages by their number. Empty without pages. */
    list(): string {
      if (found.size === 0) return ''
      const lines = [...found].map(([url, title], place) => `${place + 1}. [${title || url}](<${url}>)`)
      return `\n\n${lines.join('\n')}`
    },
  }
}
