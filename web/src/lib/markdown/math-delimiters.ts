/** More are not set: each takes milliseconds. */
const mostFormulas = 300
const longestFormula = 2000

/**
 * The text with every formula between double dollars, as `remark-math` is set up to read it: also those that models
 * write between `\(` and `\)`, `\[` and `\]`, and between single dollars if they cannot be prices. Code stays as it is.
 * Undefined if there is no formula, or there are too many. Takes time in proportion to the text.
 */
export function withMathDelimiters(text: string): string | undefined {
  let result = ''
  let at = 0
  let formulas = 0
  while (at < text.length) {
    const next = text.slice(at).search(/[`~\\$]/)
    if (next < 0) break
    result += text.slice(at, at + next)
    at += next
    const code = codeAt(text, at)
    if (code !== undefined) {
      result += code
      at += code.length
      continue
    }
    const formula = formulaAt(text, at)
    if (formula === undefined) {
      const plain = text.startsWith('$$', at) ? '$$' : text.slice(at, at + (text[at] === '\\' ? 2 : 1))
      result += plain
      at += plain.length
      continue
    }
    formulas += 1
    if (formulas > mostFormulas) return undefined
    const { tex, isBlock, end } = formula
    result += isBlock ? `\n$$\n${tex.trim()}\n$$\n` : `$$${tex.trim()}$$`
    at = end
  }
  return formulas === 0 ? undefined : result + text.slice(at)
}

/**
 * A code span or a fenced block that begins here, up to its end; an open one, while it is written, up to the end of the
 * text.
 */
function codeAt(text: string, at: number): string | undefined {
  const fence = /^(?:`+|~{3,})/.exec(text.slice(at, at + 100))?.[0]
  if (fence === undefined) return undefined
  const end = text.indexOf(fence, at + fence.length)
  if (end >= 0) return text.slice(at, end + fence.length)
  return fence.length < 3 ? fence : text.slice(at)
}

interface Formula {
  tex: string
  isBlock: boolean
  /** Place behind it. */
  end: number
}

function formulaAt(text: string, at: number): Formula | undefined {
  const pairs = [
    ['$$', '$$', true],
    ['\\[', '\\]', true],
    ['\\(', '\\)', false],
    ['$', '$', false],
  ] as const
  const found = pairs.find(([open]) => text.startsWith(open, at))
  if (found === undefined) return undefined
  const [open, close, isBlock] = found
  const begin = at + open.length
  const length = text.slice(begin, begin + longestFormula).indexOf(close)
  if (length <= 0) return undefined
  const tex = text.slice(begin, begin + length)
  const end = begin + length + close.length
  if (tex.trim() === '' || /\n\s*\n/.test(tex)) return undefined
  if (open === '$' && !isSurelyMath(tex, text[end])) return undefined
  // Within a line it is set within the line.
  return { tex, isBlock: isBlock && (open === '\\[' || /^\s*$/.test(lineBefore(text, at))), end }
}

/** Prices have a space, a digit or a word behind a dollar where formulas have none. */
function isSurelyMath(tex: string, next: string | undefined): boolean {
  if (/^\s|\s$|\n/.test(tex) || /\d/.test(next ?? '')) return false
  return /[\\^_=<>+]/.test(tex) || /^\p{L}'?$/u.test(tex)
}

const lineBefore = (text: string, at: number) => text.slice(Math.max(text.lastIndexOf('\n', at - 1) + 1, at - 200), at)
