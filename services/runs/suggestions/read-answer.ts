import { cutText } from '../../../domain/cut-text.ts'

export const suggestionLimits = { title: 80, questions: 3, question: 120, answer: 4000 } as const

export interface Suggestions {
  /** Absent: none was wanted, or none can be read. */
  title?: string
  questions: string[]
}

/**
 * Reads what the small model wrote: a line with the title, if one is wanted, and a line for each question. Thinking, marks
 * of Markdown, tags, numbers of lists and words such as `Title:` are left out; a question that is too long, too.
 */
export function readSuggestions(answer: string, { hasTitle }: { hasTitle: boolean }): Suggestions {
  const lines = withoutThinking(cutText(answer, suggestionLimits.answer)).split(/[\r\n\u2028\u2029]+/)
  const texts = lines.filter((line) => !line.trimStart().startsWith('```')).map(plainLine)
  const filled = texts.filter((text) => /[\p{L}\p{N}]/u.test(text))
  const [first, ...rest] = filled
  const title = hasTitle && first !== undefined ? shortened(first) : undefined
  const asked = (hasTitle ? rest : filled).filter(({ length }) => length <= suggestionLimits.question)
  return {
    ...(title === undefined ? {} : { title }),
    questions: [...new Set(asked)].slice(0, suggestionLimits.questions),
  }
}

/** Also where it has no end, because the answer was cut off: then nothing is left. */
function withoutThinking(text: string): string {
  const end = text.lastIndexOf('</think>')
  const rest = end < 0 ? text : text.slice(end + '</think>'.length)
  const start = rest.indexOf('<think>')
  return start < 0 ? rest : rest.slice(0, start)
}

const label = /^(?:title|titel|question|frage|questions|fragen|q)\s?\d{0,2}\s?[:.)]\s*/iu

function plainLine(line: string): string {
  const plain = cutText(line, 1000)
    .replaceAll(/\[([^\][]{0,200})\]\([^()]{0,500}\)/g, '$1')
    .replaceAll(/<[^<>]{0,200}>/g, '')
    // Marks of Markdown; what would turn the direction of the text; and what cannot be seen, but for joiners, which words of
    // Persian and pictures of people have.
    .replaceAll(/[`*_~#|\\<>]|(?![\u200C\u200D])[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return unquoted(plain.replace(/^(?:[-•–—]|\d{1,2}[.)])\s*/u, '').replace(label, ''))
    .normalize('NFC')
    .trim()
}

const quotes = ['""', '“”', '„“', '„”', '«»', '»«', "''", '‘’']

function unquoted(text: string): string {
  const pair = `${text.at(0) ?? ''}${text.at(-1) ?? ''}`
  return text.length > 2 && quotes.includes(pair) ? text.slice(1, -1) : text
}

/** A title ends with a word, and with no full stop. */
function shortened(text: string): string {
  const title = text.replace(/\.$/u, '')
  if (title.length <= suggestionLimits.title) return title
  const cut = cutText(title, suggestionLimits.title - 1)
  return `${cutText(cut, Math.max(cut.lastIndexOf(' '), suggestionLimits.title / 2))}…`
}
