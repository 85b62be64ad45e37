/** Where Unicode has the letters and digits of a style: capitals, small letters, digits, and Greek ones. */
interface Style {
  upper: number
  lower: number
  digits?: number
  greekUpper?: number
  greekLower?: number
  /** Letters that were there before the others, and stand elsewhere. */
  elsewhere?: Record<string, string>
}

/** The styles of MathML 3, with the blocks of "Mathematical Alphanumeric Symbols" (Unicode, U+1D400). */
const styles: Record<string, Style> = {
  bold: { upper: 0x1d400, lower: 0x1d41a, digits: 0x1d7ce, greekUpper: 0x1d6a8, greekLower: 0x1d6c2 },
  italic: { upper: 0x1d434, lower: 0x1d44e, greekUpper: 0x1d6e2, greekLower: 0x1d6fc, elsewhere: { h: 'ℎ' } },
  'bold-italic': { upper: 0x1d468, lower: 0x1d482, digits: 0x1d7ce, greekUpper: 0x1d71c, greekLower: 0x1d736 },
  script: {
    upper: 0x1d49c,
    lower: 0x1d4b6,
    elsewhere: { B: 'ℬ', E: 'ℰ', F: 'ℱ', H: 'ℋ', I: 'ℐ', L: 'ℒ', M: 'ℳ', R: 'ℛ', e: 'ℯ', g: 'ℊ', o: 'ℴ' },
  },
  'bold-script': { upper: 0x1d4d0, lower: 0x1d4ea },
  fraktur: { upper: 0x1d504, lower: 0x1d51e, elsewhere: { C: 'ℭ', H: 'ℌ', I: 'ℑ', R: 'ℜ', Z: 'ℨ' } },
  'bold-fraktur': { upper: 0x1d56c, lower: 0x1d586 },
  'double-struck': {
    upper: 0x1d538,
    lower: 0x1d552,
    digits: 0x1d7d8,
    elsewhere: { C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ', Z: 'ℤ' },
  },
  'sans-serif': { upper: 0x1d5a0, lower: 0x1d5ba, digits: 0x1d7e2 },
  'bold-sans-serif': { upper: 0x1d5d4, lower: 0x1d5ee, digits: 0x1d7ec },
  'sans-serif-italic': { upper: 0x1d608, lower: 0x1d622 },
  'sans-serif-bold-italic': { upper: 0x1d63c, lower: 0x1d656 },
  monospace: { upper: 0x1d670, lower: 0x1d68a, digits: 0x1d7f6 },
}

const ranges = [
  { first: 'A', last: 'Z', of: 'upper' },
  { first: 'a', last: 'z', of: 'lower' },
  { first: '0', last: '9', of: 'digits' },
  { first: 'Α', last: 'Ω', of: 'greekUpper' },
  { first: 'α', last: 'ω', of: 'greekLower' },
] as const

/**
 * A text in a style of MathML 3 (`mathvariant`), in the letters that Unicode has for it: browsers follow MathML Core, which
 * knows none of these styles. What has no such letter stays as it is.
 */
export function inStyle(text: string, name: string): string {
  const style = styles[name]
  if (style === undefined) return text
  return Array.from(text, (letter) => style.elsewhere?.[letter] ?? shifted(letter, style)).join('')
}

function shifted(letter: string, style: Style): string {
  const range = ranges.find(({ first, last }) => letter >= first && letter <= last)
  const begin = range && style[range.of]
  if (range === undefined || begin === undefined) return letter
  return String.fromCodePoint(begin + (letter.codePointAt(0) ?? 0) - (range.first.codePointAt(0) ?? 0))
}
