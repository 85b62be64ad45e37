import { largestOf } from '../../domain/extremes.ts'

/**
 * The encodings of eight bits with Latin letters, by the letters that languages have beyond ASCII: in the right encoding
 * the letters of a text are those of one language. General detectors need more text than a list of names has.
 */

const western = [
  'äöüß',
  'àâæçéèêëîïôœùûüÿ',
  'áéíóúüñ',
  'áâãàçéêíóôõú',
  'àèéìíîòóùú',
  'åäöæøé',
  'áðéíóúýþæö',
  'áàäéèëíïóöúü',
]
const central = ['ąćęłńóśźż', 'áčďéěíňóřšťúůýžäľĺŕô', 'áéíóöőúüű', 'čćđšž', 'ăâîşţ']

/** Earlier ones win where texts are the same. */
const candidates: [charset: string, languages: string[]][] = [
  ['windows-1252', western],
  ['windows-1250', central],
  ['iso-8859-2', central],
  ['cp850', western],
]

/** So much of the letters beyond ASCII must belong to one language. */
const leastShare = 0.95
const leastLetters = 2

/** The upper half of code page 850, which `TextDecoder` does not know. */
const cp850 =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0'

interface Decoder {
  decode(bytes?: Uint8Array, options?: { stream: boolean }): string
}

/** A decoder for any label that the detection gives. */
export function createDecoder(charset: string): Decoder {
  if (charset !== 'cp850') return new TextDecoder(charset)
  return {
    decode: (bytes = new Uint8Array()) =>
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/[\x80-\xff]/g, (character) => cp850[character.charCodeAt(0) - 0x80] ?? ''),
  }
}

/** Undefined if no encoding fits. */
export function charsetByLetters(bytes: Uint8Array): string | undefined {
  if (isJapanese('shift_jis', bytes)) return 'shift_jis'
  if (isJapanese('euc-jp', bytes)) return 'euc-jp'
  let best: { charset: string; share: number } | undefined
  for (const [charset, languages] of candidates) {
    const letters =
      createDecoder(charset)
        .decode(bytes)
        .toLowerCase()
        .match(/[^\0-\x7f]/gu) ?? []
    // Signs such as quotation marks and currencies belong to no language.
    const own = letters.filter((letter) => /[\p{L}\p{Co}\p{Cc}\ufffd]/u.test(letter))
    const strange = letters.filter((letter) => !isOrdinary(letter)).length
    if (own.length < leastLetters) continue
    const share = largestOf(languages.map((known) => own.filter((letter) => known.includes(letter)).length))
    const found = { charset, share: share / (own.length + strange) }
    if (found.share >= leastShare && found.share > (best?.share ?? 0)) best = found
  }
  return isMostlyLatin(bytes) ? best?.charset : undefined
}

const isOrdinary = (letter: string): boolean => /[\p{L}“”„‚–—’‘…€§°«»©®•·\u00a0]/u.test(letter)

/** Words of other scripts have hardly any letter of ASCII. */
function isMostlyLatin(bytes: Uint8Array): boolean {
  let ascii = 0
  let other = 0
  for (const byte of bytes) {
    if (byte >= 0x80) other++
    else if ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a) ascii++
  }
  return other < ascii
}

/** Japanese has syllables in each sentence; half-width ones are what other encodings look like. */
function isJapanese(charset: string, bytes: Uint8Array): boolean {
  let text: string
  try {
    text = new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: true })
  } catch {
    return false
  }
  const letters = text.match(/[^\0-\x7f]/gu) ?? []
  const syllables = letters.filter((letter) => /[\u3041-\u30fe]/.test(letter)).length
  const halfWidth = letters.filter((letter) => /[\uff61-\uff9f]/.test(letter)).length
  return syllables >= letters.length * 0.15 && syllables > 0 && halfWidth < letters.length * 0.1
}
