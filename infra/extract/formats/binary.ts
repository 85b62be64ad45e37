import type { Block } from '../../../domain/chunking/block.ts'
import { noText } from '../../../domain/knowledge/unreadable-file.ts'
import { type Content, streamOf } from '../content.ts'

const minRun = 8
const minWords = 8
const blockCharacters = 8 * 1024

/**
 * The readable text in a file of unknown format: runs of letters in one-byte and two-byte encodings that look like
 * words. Fails if there is almost none.
 */
export async function* readBinary(content: Content): AsyncGenerator<Block> {
  let group: string[] = []
  let characters = 0
  let words = 0
  for await (const bytes of streamOf(content)) {
    for (const run of readableRuns(bytes)) {
      words += run.split(' ').length
      group.push(run)
      characters += run.length
      if (characters < blockCharacters || words < minWords) continue
      yield { kind: 'text', text: group.join('\n') }
      group = []
      characters = 0
    }
  }
  if (words < minWords) throw noText()
  if (group.length > 0) yield { kind: 'text', text: group.join('\n') }
}

function* readableRuns(bytes: Buffer): Generator<string> {
  const oneByte = bytes.toString('latin1')
  for (const match of oneByte.matchAll(/[\t\n\r\x20-\x7e\xc0-\xff]{8,}/g)) yield* wordy(match[0])
  // In two-byte encodings the high byte is 0 for Latin script, 4 for Cyrillic.
  for (const match of oneByte.matchAll(/(?:[\t\n\r\x20-\x7e\xc0-\xff]\x00|[\x00-\xff]\x04){8,}/g)) {
    yield* wordy(Buffer.from(match[0], 'latin1').toString('utf16le'))
  }
}

/** Lines of which most words look like words: random bytes hardly ever contain three in a row. */
function* wordy(run: string): Generator<string> {
  for (const line of run.split(/[\r\n\t]+/)) {
    const text = line.replace(/ {2,}/g, ' ').trim()
    if (text.length < minRun) continue
    const tokens = text.split(' ')
    const words = tokens.filter((token) => wordPattern.test(token) && vowelPattern.test(token)).length
    if (words >= 2 && words >= tokens.length * 0.6) yield text
  }
}

/** All lower case, capitalised, or all upper case, with the punctuation of prose around it. */
const wordPattern = /^["'(«„“]*(?:\p{Lu}?\p{Ll}{2,}|\p{Lu}{3,})(?:['’-]\p{L}+)*["')»“”.,;:!?]*$/u
const vowelPattern = /[aeiouyàáâäåæèéêëìíîïòóôöøùúûüаеёиоуыэюяіє]/iu
