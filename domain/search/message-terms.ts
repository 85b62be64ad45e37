import { cutText } from '../cut-text.ts'
import type { Message } from '../messages.ts'
import type { MessageTerms } from '../records/thread.ts'
import { type ReadingBudget, termsIn, termsOf } from './terms.ts'

/** What somebody looks for: all terms, the last of them perhaps only the beginning of one. */
interface WantedTerms {
  terms: string[]
  beginning: string | undefined
}

interface Entry {
  _id: string
  created_at: Date
}

interface Thread {
  project_id: string
  public: boolean
  counted?: boolean
  asked_from?: string[]
  expires_at?: Date
}

/** Characters of a message that can be found. */
const textLength = 100_000
/** Of all messages of an entry, after folding. */
const entryLength = 300_000
/** Different terms of an entry. */
const maxTerms = 1000
/** Terms of a search. */
const maxWanted = 16
const beginningLength = 3

/**
 * How an entry with these words is stored. Undefined if it says nothing, or if its thread is not listed: those of public
 * callers and of completions, temporary ones, and those in which assistants ask each other.
 */
export function messageTerms(thread: Thread, { _id, created_at }: Entry, words: string[]): MessageTerms | undefined {
  const { public: isPublic, counted, asked_from: parentThreads, expires_at: end } = thread
  if (isPublic || counted === false || parentThreads !== undefined || end !== undefined) return undefined
  return words.length === 0 ? undefined : { project_id: thread.project_id, words, at: sortKeyOf(_id, created_at) }
}

/** The words of an entry. Reads no further than it must, and never longer than a moment: not in a transaction. */
export function wordsOf(messages: readonly Message[]): string[] {
  const terms = firstTerms(messages)
  const beginnings = new Set<string>()
  for (const term of terms) {
    const beginning = beginningOf(term)
    if (beginning !== undefined) beginnings.add(beginning)
  }
  return [...terms, ...beginnings]
}

function firstTerms(messages: readonly Message[]): Set<string> {
  const terms = new Set<string>()
  const budget = { characters: entryLength }
  for (const message of messages) {
    for (const some of termsIn(foundText(message), budget)) {
      for (const term of some) {
        if (terms.size >= maxTerms) return terms
        terms.add(term.toWellFormed())
      }
    }
  }
  return terms
}

export function sortKeyOf(id: string, time: Date): number {
  const end = Number.parseInt(id.slice(-3), 16)
  return time.getTime() + (Number.isNaN(end) ? 0 : end / 4096)
}

/** Empty without a term: a search for words that nearly every text has. */
export function wantedTerms(query: string): WantedTerms {
  const terms = [...new Set(termsOf(query).map((term) => term.toWellFormed()))].slice(0, maxWanted)
  const last = terms.at(-1)
  const isBeginning = last !== undefined && !/\s$/.test(query) && beginningOf(last) !== undefined
  return { terms: isBeginning ? terms.slice(0, -1) : terms, beginning: isBeginning ? last : undefined }
}

/** The words with which an entry must be stored to be found; the rarest first, as far as length tells. */
export function storedTerms({ terms, beginning }: WantedTerms): string[] {
  const stored = terms.toSorted((a, b) => b.length - a.length)
  const first = beginning === undefined ? undefined : beginningOf(beginning)
  return first === undefined ? stored : [...stored, first]
}

export interface FoundText {
  text: string
  /** Where the words are in it, in UTF-16 units. */
  marks: { start: number; end: number }[]
}

const before = 60
const after = 180
const maxMarks = 20
const wordPattern = /\d+(?:[.,]\d+)+|[\p{L}\p{N}\p{M}]+(?:['’]\p{L}+)?/gu

/** The newest message of an entry that has all words, among what is read of the entry to find its words. */
export function findTerms(
  messages: readonly Message[],
  wanted: WantedTerms,
): { found: (FoundText & { message: Message }) | undefined; charactersRead: number } {
  const budget = { characters: entryLength }
  let newest: Message | undefined
  for (const message of messages) {
    if (budget.characters <= 0) break
    if (hasWords(message, wanted, budget)) newest = message
  }
  const found = newest && { ...passageOf(newest, wanted), message: newest }
  return { found, charactersRead: entryLength - budget.characters }
}

function hasWords(message: Message, { terms, beginning }: WantedTerms, budget: ReadingBudget): boolean {
  const missing = new Set(terms)
  let isBegun = beginning === undefined
  for (const some of termsIn(foundText(message), budget)) {
    for (const term of some) {
      const wellFormed = term.toWellFormed()
      missing.delete(wellFormed)
      if (beginning !== undefined && !isBegun && wellFormed.startsWith(beginning)) isBegun = true
    }
    if (isBegun && missing.size === 0) return true
  }
  return false
}

/** The part of a message where it has the first of the words. */
function passageOf(message: Message, wanted: WantedTerms): FoundText {
  const text = foundText(message)
  const budget = { characters: entryLength }
  const isWanted = (term: string) =>
    wanted.terms.includes(term) || (wanted.beginning !== undefined && term.startsWith(wanted.beginning))
  const marks: FoundText['marks'] = []
  let end = text.length
  for (const { 0: word, index } of text.matchAll(wordPattern)) {
    if (index >= end || marks.length === maxMarks || budget.characters <= 0) break
    const term = [...termsIn(word, budget)].flat().find((each) => isWanted(each.toWellFormed()))
    if (term === undefined) continue
    // In scripts without spaces, a term is a part of what stands together.
    const position = Math.max(word.indexOf(term), 0)
    const mark = { start: index + position, end: index + (position > 0 ? position + term.length : word.length) }
    if (marks.length === 0) end = Math.min(text.length, mark.start + after)
    marks.push({ start: mark.start, end: Math.min(mark.end, end) })
  }
  const start = Math.max((marks[0]?.start ?? 0) - before, 0)
  return {
    text: text.slice(start, Math.min(end, start + before + after)).toWellFormed(),
    marks: marks.map((mark) => ({ start: mark.start - start, end: mark.end - start })),
  }
}

/** What of a message can be found: what people and models have said. */
function foundText({ type, data }: Message): string {
  return type === 'HumanMessage' || type === 'AIMessage' ? cutText(data.content, textLength) : ''
}

/** Its first characters; undefined for a term that is too short to be begun. */
function beginningOf(term: string): string | undefined {
  const characters = Array.from(term.slice(0, 2 * beginningLength))
  if (characters.length >= beginningLength) return `*${characters.slice(0, beginningLength).join('')}`
  return /[^\0-\x7f]/.test(term) ? `*${characters[0] ?? ''}` : undefined
}
