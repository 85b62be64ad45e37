export interface Passage {
  text: string
  /** File and page for display: `guide.pdf, page 3`. */
  source: string
  /** Of a passage on several pages: where each of them begins in the text, with its source. */
  pages?: { begin: number; source: string }[]
}

/**
 * The passages in the result of a retrieval tool: a JSON list (or an object that contains one) of `{text, file,
 * page}` under their usual names, or text in which a line such as `[1] guide.pdf, page 3` precedes each passage.
 */
export function passagesOf(content: string): Passage[] {
  return fromJson(content) ?? fromText(content)
}

function fromJson(content: string): Passage[] | undefined {
  let value: unknown
  try {
    value = JSON.parse(content)
  } catch {
    return undefined
  }
  const lists: unknown[] = Array.isArray(value) ? [value] : membersOf(value).map(([, member]) => member)
  const list: unknown = lists.find((candidate) => Array.isArray(candidate))
  if (!Array.isArray(list)) return []
  const entries: unknown[] = list
  return entries.flatMap((entry) => {
    const members = new Map(membersOf(entry))
    const pick = (...names: string[]) => names.map((name) => words(members.get(name))).find(Boolean)
    const text = pick('text', 'content', 'passage')
    if (text === undefined) return []
    const file = pick('file', 'file_name', 'filename', 'name', 'source') ?? 'a file'
    const page = pick('page')
    const place = page === undefined ? pick('place', 'location', 'heading') : `page ${page}`
    const source = place === undefined ? file : `${file}, ${place}`
    return [{ text, source, pages: pagesOf(members.get('pages'), file) }]
  })
}

function pagesOf(list: unknown, file: string) {
  const entries: unknown[] = Array.isArray(list) ? list : []
  return entries.flatMap((entry) => {
    const members = new Map(membersOf(entry))
    const sentences = members.get('sentences')
    const begin: unknown = Array.isArray(sentences) ? sentences[0] : undefined
    return typeof begin === 'number' ? [{ begin, source: `${file}, page ${words(members.get('page')) ?? '?'}` }] : []
  })
}

function fromText(content: string): Passage[] {
  const passages: Passage[] = []
  for (const line of content.split('\n')) {
    const heading = /^\[\d+\]\s+(.+?):?\s*$/.exec(line)?.[1]
    const current = passages.at(-1)
    if (heading !== undefined) passages.push({ text: '', source: heading })
    else if (current) current.text += `${line}\n`
  }
  return passages.map(({ text, source }) => ({ text: text.trim(), source })).filter(({ text }) => text !== '')
}

function words(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}

function membersOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}
