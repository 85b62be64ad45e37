/**
 * The beginning of a text: at most `length` UTF-16 units. A character that takes two of them is kept or left out whole,
 * because half of one is not text: UTF-8 cannot hold it, and strict parsers refuse it.
 */
export function cutText(text: string, length: number): string {
  const end = Math.max(0, length)
  if (text.length <= end) return text
  return text.slice(0, isInsideCharacter(text, end) ? end - 1 : end)
}

/** Where a text ends that is still arriving: the first half of a character waits for the second. */
export function endOfWholeText(text: string): number {
  const last = text.charCodeAt(text.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? text.length - 1 : text.length
}

/** Whether a cut at this place would separate the halves of one character. */
function isInsideCharacter(text: string, at: number): boolean {
  const [before, after] = [text.charCodeAt(at - 1), text.charCodeAt(at)]
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff
}
