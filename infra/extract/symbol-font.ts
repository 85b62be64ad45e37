/** The letters and signs of the font Symbol by its codes, from 0x20 and from 0xa0 on: it has an encoding of its own. */
const lower = ' !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼'
const upper = '€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…⏐―↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑'

/** Where programs put the codes of such a font among those of Unicode. */
const privateUse = 0xf000

/** What a text says whose font is Symbol: `m` is the Greek letter of micrometers. */
export function textOfSymbols(text: string): string {
  return Array.from(text, (character) => {
    const given = character.codePointAt(0) ?? 0
    const code = given >= privateUse && given <= privateUse + 0xff ? given - privateUse : given
    const known = code < 0xa0 ? lower[code - 0x20] : upper[code - 0xa0]
    return known ?? (code === given ? character : '')
  }).join('')
}

/** Whether a font is that of the table above, whatever else its name says. */
export const isSymbolFont = (name: string | undefined): boolean => /^symbol\b/i.test(name?.trim() ?? '')

/**
 * Ticks of the fonts in which Word draws them, and the letters of the font of signs; nothing for a sign without a
 * meaning.
 */
export function symbolOf(code: number, font: string | undefined): string {
  if (!Number.isInteger(code) || code < 0 || code > 0xff_ff) return ''
  if (isSymbolFont(font)) return textOfSymbols(String.fromCharCode(code))
  switch (code) {
    case 0xf0_fe:
    case 0xf0_fd:
    case 0xf0_78:
    case 0xf0_52:
    case 0xf0_54:
      return '[x]'
    case 0xf0_a8:
    case 0xf0_6f:
    case 0xf0_71:
      return '[ ]'
    case 0xf0_fc:
      return '✓'
    default:
      return ''
  }
}
