/** What is heard of an answer in Markdown: no marks, no code, no addresses, no numbers of sources. */
export function spokenTextOf(markdown: string): string {
  return markdown
    .replaceAll(/```[\s\S]*?(?:```|$)/g, ' … ')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\[\d+\]/g, '')
    .replaceAll(/^[ \t]*(?:#{1,6}|>|[-*+])[ \t]+/gm, '')
    .replaceAll(/[*_`|]+/g, ' ')
    .replaceAll(/[ \t]+/g, ' ')
    .trim()
}
