/** What is heard of an answer in Markdown: no marks, no code, no addresses, no numbers of sources. */
export function spokenTextOf(markdown: string): string {
  return markdown
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' … ')
    .replaceAll(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replaceAll(/\[\d+\]/g, '')
    .replaceAll(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, '')
    .replaceAll(/[*_`|]+/g, ' ')
    .replaceAll(/[ \t]+/g, ' ')
    .trim()
}

/**
 * The beginning of what is heard of an answer, however long that is: characters that are heard, and that are looked at
 * for them.
 */
export const spokenBeginningOf = (markdown: string): string => spokenTextOf(markdown.slice(0, 4000)).slice(0, 1000)
