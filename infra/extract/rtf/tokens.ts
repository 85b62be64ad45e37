export type Token =
  | { kind: 'open' }
  | { kind: 'close' }
  | { kind: 'word'; name: string; value: number | undefined }
  /** Bytes of the text in the code page of the font, as letters of Latin-1. */
  | { kind: 'bytes'; text: string }

const pattern = /\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gisu

/** The parts of an RTF file (Rich Text Format 1.9.1), whose bytes are given as letters of Latin-1. */
export function* tokensOf(text: string): Generator<Token> {
  const next = new RegExp(pattern)
  for (let found = next.exec(text); found !== null; found = next.exec(text)) {
    const [, word, number, hex, symbol, brace, plain] = found
    if (word !== undefined) {
      const value = number === undefined ? undefined : Number(number)
      // So many bytes follow that are no text.
      if (word === 'bin') next.lastIndex += Math.max(0, value ?? 0)
      else yield { kind: 'word', name: word, value }
    } else if (hex !== undefined) yield { kind: 'bytes', text: String.fromCodePoint(Number.parseInt(hex, 16)) }
    else if (symbol !== undefined) yield { kind: 'word', name: symbol, value: undefined }
    else if (brace !== undefined) yield brace === '{' ? { kind: 'open' } : { kind: 'close' }
    else if (plain !== undefined) yield { kind: 'bytes', text: plain }
  }
}
