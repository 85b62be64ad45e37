import type { Block } from '../../../domain/chunking/block.ts'
import { blocksOfText } from '../aligned-text.ts'
import type { Content } from '../content.ts'
import { readText } from '../read-text.ts'

const pieceCharacters = 32 * 1024

/** Text of any length in pieces that end with a paragraph, else with a line. */
export async function* readPlain(content: Content, kind: 'text' | 'code'): AsyncGenerator<Block> {
  let open = ''
  for await (const piece of readText(content)) {
    open += piece.includes('\r') ? piece.replace(/\r\n?/g, '\n') : piece
    while (open.length > pieceCharacters * 2) {
      const end = pieceEnd(open)
      yield* blocksOf(open.slice(0, end), kind)
      open = open.slice(end)
    }
  }
  yield* blocksOf(open, kind)
}

const blocksOf = (text: string, kind: 'text' | 'code'): Block[] =>
  kind === 'text' ? blocksOfText(text) : text === '' ? [] : [{ kind, text }]

function pieceEnd(text: string): number {
  const paragraph = text.lastIndexOf('\n\n', pieceCharacters)
  if (paragraph > pieceCharacters / 2) return paragraph + 2
  const line = text.lastIndexOf('\n', pieceCharacters)
  if (line > pieceCharacters / 4) return line + 1
  const space = text.lastIndexOf(' ', pieceCharacters)
  if (space > pieceCharacters / 4) return space + 1
  const splitsPair = (text.charCodeAt(pieceCharacters - 1) & 0xfc00) === 0xd800
  return splitsPair ? pieceCharacters - 1 : pieceCharacters
}
