/** A piece of an answer that is read on its own: Markdown, or a block of code of which only the text is needed. */
export type Part =
  | { kind: 'text'; text: string }
  | { kind: 'code'; text: string; language: string | undefined; isOpen: boolean }

/** Characters after which a text is cut at the next place where nothing hangs together, also within a list. */
const enough = 2000
const enoughOfList = 8000

const fence = /^(`{3,}(?=[^`]*$)|~{3,})\s*([\w+#.-]{0,30})/
/** Links and notes that are defined anywhere in the text count everywhere in it. */
const definition = /^ {0,3}\[[^\]\n]+\]:/m
const listItem = /^(?:[-+*]|\d{1,9}[.)])(?:\s|$)/
/** HTML that only its own end tag ends. */
const longHtml = /^ {0,3}<(?:!--|(?:pre|script|style|textarea)\b)/i
const endOfLongHtml = /-->|<\/(?:pre|script|style|textarea)>/i

/**
 * Cuts Markdown into parts that can be read one by one. While an answer grows, only its last part changes. Takes time in
 * proportion to the text.
 */
export function partsOf(text: string): Part[] {
  if (definition.test(text)) return [{ kind: 'text', text }]
  const parts: Part[] = []
  let [written, length]: [string[], number] = [[], 0]
  const endText = () => {
    const joined = written.join('\n').replace(/^\n+/, '').trimEnd()
    if (joined !== '') parts.push({ kind: 'text', text: joined })
    written = []
    length = 0
  }
  /** Within it, a fence begins no code, and a blank line may end nothing. */
  let within: 'nothing' | 'html' | 'longHtml' | 'formula' = 'nothing'
  let code: { mark: string; language: string | undefined; lines: string[] } | undefined
  let isAfterBlank = true
  for (const line of text.split('\n')) {
    if (code !== undefined) {
      if (endsCode(line, code.mark)) {
        parts.push({ kind: 'code', text: code.lines.join('\n'), language: code.language, isOpen: false })
        code = undefined
        isAfterBlank = true
      } else code.lines.push(line)
      continue
    }
    if (within === 'nothing') {
      const [, mark, language] = fence.exec(line) ?? []
      if (mark !== undefined) {
        endText()
        code = { mark, language: language || undefined, lines: [] }
        continue
      }
      if (isAfterBlank && isCut(line, length)) endText()
    }
    within = next(within, line)
    isAfterBlank = line.trim() === ''
    written.push(line)
    length += line.length + 1
  }
  endText()
  if (code !== undefined)
    parts.push({ kind: 'code', text: code.lines.join('\n'), language: code.language, isOpen: true })
  return parts
}

/** Whether a line behind a blank one begins something that does not belong to what was before. */
function isCut(line: string, length: number): boolean {
  if (line.trim() === '' || /^\s/.test(line)) return false
  return length > (listItem.test(line) ? enoughOfList : enough)
}

function endsCode(line: string, mark: string): boolean {
  const found = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1]
  return found !== undefined && found.startsWith(mark)
}

type Within = 'nothing' | 'html' | 'longHtml' | 'formula'

function next(within: Within, line: string): Within {
  const isBlank = line.trim() === ''
  switch (within) {
    case 'longHtml':
      return endOfLongHtml.test(line) ? 'nothing' : 'longHtml'
    case 'html':
      return isBlank ? 'nothing' : 'html'
    case 'formula':
      return isBlank || /\$\$|\\\]/.test(line) ? 'nothing' : 'formula'
    case 'nothing':
      if (longHtml.test(line)) return endOfLongHtml.test(line) ? 'nothing' : 'longHtml'
      if (/^ {0,3}</.test(line)) return 'html'
      return /^\s*(?:\$\$(?!.*\$\$)|\\\[(?!.*\\\]))/.test(line) ? 'formula' : 'nothing'
  }
}
