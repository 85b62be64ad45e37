/** Characters; of more, parsing alone takes a second. */
const longest = 300_000
/** Marks of emphasis and of links in one paragraph: each is compared with those before it. */
const pairedOfParagraph = 1500
/** Marks of any kind in the text, and lines, without blocks of code. */
const marksOfText = 8000
const linesOfText = 4000
/** Quotes within quotes. */
const quoteDepth = 50

/** Lines that surely begin something new: a list that is not numbered on, or a heading. */
const beginning = /^ {0,3}(?:[-+*] +\S|1[.)] +\S|#{1,6} +\S)/
const fence = /^(?:`{3,}|~{3,})/
/** Within HTML and formulas, a fence begins no code. */
const hidesFences = /^[ \t]*(?:<|\$\$|\\\[)/m

/**
 * Whether a text would hold the page up if it were read as Markdown: twenty kilobytes of `*a_ ` take ten seconds. Such a
 * text is shown as it is. Takes time in proportion to the text.
 */
export function isTooDense(text: string): boolean {
  if (text.length > longest) return true
  const hasFences = !hidesFences.test(text)
  let [marks, ofParagraph, lines] = [0, 0, 0]
  let open: string | undefined
  for (const line of text.split('\n')) {
    const found = hasFences ? fence.exec(line)?.[0] : undefined
    if (open !== undefined) {
      if (found !== undefined && found.startsWith(open) && line.trim() === found) open = undefined
      continue
    }
    if (found !== undefined && !line.slice(found.length).includes('`')) {
      open = found
      ofParagraph = 0
      continue
    }
    if (line.trim() === '' || beginning.test(line)) ofParagraph = 0
    const paired = countOf(line, /[*_~[\]]/g)
    ofParagraph += paired
    marks += paired + countOf(line, /[()<>|`!&\\#@:+-]/g)
    lines += 1
    if (ofParagraph > pairedOfParagraph || marks > marksOfText || lines > linesOfText) return true
    if (countOf(/^[\s>]*/.exec(line)?.[0] ?? '', />/g) > quoteDepth) return true
  }
  return false
}

const countOf = (text: string, marks: RegExp): number => text.match(marks)?.length ?? 0
