import { wordsOf } from './embed.ts'
import { type Passage, passagesOf } from './passages.ts'

export interface ChatMessage {
  role: string
  content?: unknown
}

export type Answer = { text: string } | { toolCall: { name: string; arguments: string } }

const retrieval = 'retrieval'
const introduction =
  'I am the demo model that comes with this service: a small program without any understanding, for trying things out.'

/**
 * The answers of the demo model. It looks a question up with the `retrieval` tool if the request offers it, and
 * quotes the returned passages with file and page. Everything else is answered with an echo.
 */
export function answerTo(messages: ChatMessage[], toolNames: string[]): Answer {
  const last = messages.at(-1)
  const question = textOf(messages.findLast(({ role }) => role === 'user')?.content).trim()
  if (last?.role === 'user' && question !== '' && toolNames.includes(retrieval)) {
    return { toolCall: { name: retrieval, arguments: JSON.stringify({ query: question }) } }
  }
  if (last?.role === 'tool') {
    const firstOfTurn = messages.findLastIndex(({ role }) => role !== 'tool') + 1
    const results = messages.slice(firstOfTurn).map(({ content }) => textOf(content))
    return { text: fromResults(question, results) }
  }
  return { text: remembered(question, messages) ?? echo(question) }
}

/** The text of a message's content, which is a string or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const parts: unknown[] = content
  return parts
    .map((part) =>
      typeof part === 'object' && part !== null && 'text' in part && typeof part.text === 'string' ? part.text : '',
    )
    .join('')
}

/** Words in questions about the conversation itself. */
const asksForMemory = /\b(remember|earlier|before|previous(ly)?|my name|who am i|(did|have) i (say|said|tell|told))\b/i

/** For a question about the conversation: what the user wrote before it, newest first. */
function remembered(question: string, messages: ChatMessage[]): string | undefined {
  if (!asksForMemory.test(question)) return undefined
  const said = messages
    .filter(({ role }) => role === 'user')
    .slice(0, -1)
    .map(({ content }) => textOf(content).trim())
    .filter((text) => text !== '')
  if (said.length === 0) return undefined
  const quotes = said.slice(-3).map((text) => `“${shorten(text, 200)}”`)
  return `${introduction} I do see our conversation, though. You said before: ${quotes.join(', then ')}.`
}

function echo(question: string): string {
  if (question === '') return `${introduction} You have not said anything yet.`
  return (
    `${introduction} You said: “${shorten(question, 300)}” ` +
    'Connect a real model to talk to one, or upload files to this assistant and ask about them: then I answer with what they say.'
  )
}

function fromResults(question: string, results: string[]): string {
  const asked = new Set(wordsOf(question))
  const passages = results.flatMap(passagesOf)
  if (passages.length === 0) {
    return `${introduction} The tool answered: “${shorten(results.join(' ').trim(), 500)}”`
  }
  const sentences = passages.flatMap((passage, rank) =>
    sentencesOf(passage).map((sentence) => ({ ...sentence, rank, score: overlap(sentence.text, asked) })),
  )
  // The tool returns its best passage first; equally good sentences keep that order.
  const best = sentences
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || a.rank - b.rank)
    .slice(0, 3)
  if (best.length === 0) {
    return `${introduction} I found nothing about that in this assistant's files.`
  }
  const quotes = best.map(({ text, source }) => `“${shorten(text, 400)}” (${source})`)
  return `${introduction} The files say: ${quotes.join(' ')}`
}

function overlap(text: string, asked: Set<string>): number {
  return [...new Set(wordsOf(text))].filter((word) => asked.has(word)).length
}

/** A few words, such as a term or an abbreviation, need the sentence that follows. */
const shortSentence = 30

/** The sentences of a passage, each with the place where it begins. No sentence goes over the end of a page. */
function sentencesOf({ text, source, pages = [] }: Passage): { text: string; source: string }[] {
  const [first] = pages
  if (first === undefined) return segmentsOf(text).map((sentence) => ({ text: sentence, source }))
  return pages.flatMap((page, index) =>
    segmentsOf(text.slice(page === first ? 0 : page.begin, pages[index + 1]?.begin)).map((sentence) => ({
      text: sentence,
      source: page.source,
    })),
  )
}

function segmentsOf(text: string): string[] {
  const segmenter = new Intl.Segmenter(undefined, { granularity: 'sentence' })
  const sentences: string[] = []
  let begun = ''
  for (const { segment } of segmenter.segment(text.replaceAll(/\s+/g, ' '))) {
    begun += segment
    if (begun.trim().length < shortSentence) continue
    sentences.push(begun.trim())
    begun = ''
  }
  return begun.trim() === '' ? sentences : [...sentences, begun.trim()]
}

function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit).trimEnd()}…`
}
