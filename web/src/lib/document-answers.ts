import { type Noted, noteBegin, readNote } from './document-note.ts'

/** With its text, if the model has not written it itself. */
export function noteOf({ id, version, name, language }: Noted, content?: string): string {
  const plain = (text: string) => text.replaceAll(/["<>\s]+/g, ' ').trim()
  const attributes = `${noteBegin}${id}" version="${version}" name="${plain(name) || '-'}" language="${plain(language)}"`
  return content === undefined ? `${attributes} />` : `${attributes}>\n${content}\n</document>`
}

/** How a model is told to change the document. */
export function instructionsFor(note: string): string {
  const noted = readNote(note)
  if (noted === undefined) return ''
  return [
    `A document named "${noted.name}" is open beside the chat; <document> at the end of the message names it.`,
    'If you are asked to change it, answer with its complete new text in a single fenced code block that begins with',
    `\`\`\`\`${noted.language || 'text'} and ends with \`\`\`\` (four backticks), and at most a few words around it.`,
    'Answer everything else as usual.',
  ].join(' ')
}

interface Fenced {
  language: string
  content: string
}

/** The blocks of code in an answer that are closed. */
function fencedIn(answer: string): Fenced[] {
  const found: Fenced[] = []
  let open: { mark: string; language: string; lines: string[] } | undefined
  for (const line of answer.split('\n')) {
    const fence = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)/.exec(line)
    if (open === undefined) {
      if (fence?.[1] !== undefined) open = { mark: fence[1], language: fence[2] ?? '', lines: [] }
    } else if (fence?.[1]?.startsWith(open.mark) && line.trim() === fence[1]) {
      found.push({ language: open.language, content: open.lines.join('\n') })
      open = undefined
    } else open.lines.push(line)
  }
  return found
}

const kinds: Record<string, string> = {
  htm: 'html',
  md: 'markdown',
  text: '',
  txt: '',
  plaintext: '',
  js: 'javascript',
}

/** One name for the same language. */
export function kindOf(language: string): string {
  const name = language.toLowerCase()
  return Object.hasOwn(kinds, name) ? (kinds[name] ?? name) : name
}

/** The new text of a document in the answers to a question about it; undefined if there is none. */
export function changedText(answers: readonly string[], language: string): string | undefined {
  for (const answer of answers.toReversed()) {
    const same = fencedIn(answer).filter(
      (one) => kindOf(one.language) === kindOf(language) && one.content.trim() !== '',
    )
    const longest = same.toSorted((a, b) => b.content.length - a.content.length)[0]
    if (longest !== undefined) return longest.content
  }
  return undefined
}
