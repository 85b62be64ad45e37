/** A passage in the result of `retrieval`, and in the answer to a search. */
export interface Passage {
  /** Whose file it is, if another assistant was asked. */
  assistant_id?: string
  file_id?: string
  file_name: string
  /** Of a page of the web: its address. */
  url?: string
  title?: string
  page?: number
  last_page?: number
  heading?: string
  text: string
  /** `label`: what the document calls the page, where that differs. */
  pages?: { page: number; label?: string; sentences: number[] }[]
  /** Rows of a table with numbered rows, and where each begins in the text. */
  sheets?: { sheet?: string; rows: number[]; starts: number[] }[]
  score: number
}

/** The passages in the result of a search, or of a question to another assistant; none in results of other tools. */
export function parsePassages(content: string): Passage[] {
  if (!/^\{"(?:passages|answer)"/.test(content)) return []
  try {
    const { passages } = JSON.parse(content) as { passages: Passage[] }
    return Array.isArray(passages) ? passages.filter(({ text, file_name: name }) => Boolean(text && name)) : []
  } catch {
    return []
  }
}

/** The address of a page of the web; none for what is not one, because an imported chat can hold anything. */
export function addressOf({ url }: Pick<Passage, 'url'>): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined
}
