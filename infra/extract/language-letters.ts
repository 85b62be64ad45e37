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

const mac: (typeof candidates)[number] = ['macintosh', western]

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
  // Only programs of old Macs end lines so.
  const isMac = bytes.includes(0x0d) && !bytes.includes(0x0a)
  if (isMac && isMostlyLatin(bytes) && bestOf([mac], bytes) !== undefined) return 'macintosh'
  if (isJapanese('shift_jis', bytes)) return 'shift_jis'
  if (isJapanese('euc-jp', bytes)) return 'euc-jp'
  return isMostlyLatin(bytes) ? bestOf(candidates, bytes) : undefined
}

function bestOf(charsets: typeof candidates, bytes: Uint8Array): string | undefined {
  let best: { charset: string; share: number } | undefined
  for (const [charset, languages] of charsets) {
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
  return best?.charset
}

/** Encodings of two bytes with the places of their frequent letters. */
const eastern: [charset: string, isFrequent: (pair: number) => boolean][] = [
  ['gb18030', (pair) => pair >= 0xb0a1 && pair <= 0xd7f9 && (pair & 0xff) >= 0xa1],
  ['big5', (pair) => pair >= 0xa440 && pair <= 0xc67e],
  ['euc-kr', (pair) => pair >= 0xb0a1 && pair <= 0xc8fe && (pair & 0xff) >= 0xa1],
  ['shift_jis', (pair) => pair >= 0x889f && pair <= 0x9872],
]
const leastFrequent = 0.9
const leastPairs = 4

/** The eastern encoding in which hardly any letter is a rare one. Undefined if there is none. */
export function easternByLetters(bytes: Uint8Array): string | undefined {
  let best: { charset: string; share: number } | undefined
  for (const [charset, isFrequent] of eastern) {
    try {
      new TextDecoder(charset, { fatal: true }).decode(bytes, { stream: true })
    } catch {
      continue
    }
    let [pairs, frequent] = [0, 0]
    for (let at = 0; at + 1 < bytes.length; at++) {
      if ((bytes[at] ?? 0) < 0x80) continue
      pairs++
      if (isFrequent(((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0))) frequent++
      at++
    }
    const share = pairs < leastPairs ? 0 : frequent / pairs
    if (share >= leastFrequent && share > (best?.share ?? 0)) best = { charset, share }
  }
  return best?.charset
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
