import { Parser } from 'htmlparser2'
import type { Block } from '../../../domain/chunking/block.ts'
import { UnreadableFile } from '../../../domain/knowledge/unreadable-file.ts'

export type Attributes = Record<string, string>

export interface XmlEvents {
  open(name: string, attributes: Attributes): void
  close(name: string): void
  text(text: string): void
}

/** Names that documents have in common, whatever their programs call them. */
const knownNames: [uri: RegExp, prefix: string][] = [
  [/\/wordprocessingml\/(2006\/)?main$/, 'w'],
  [/\/word\/2003\/wordml$/, 'w'],
  [/\/officeDocument\/(2006\/)?math$/, 'm'],
  [/\/markup-compatibility\/2006$/, 'mc'],
  [/\/wordprocessingDrawing$/, 'wp'],
  [/\/officeDocument\/(2006\/)?relationships$/, 'r'],
  [/\/word\/2010\/wordml$/, 'w14'],
  [/\/presentationml\/(2006\/)?main$/, 'p'],
  [/\/drawingml\/(2006\/)?main$/, 'a'],
  // Shapes of workbooks are those of slides.
  [/\/drawingml\/(2006\/)?spreadsheetDrawing$/, 'p'],
]
/** Each end tag is looked for among the open elements. */
const maxDepth = 2000

/** An XML text in pieces, with the usual prefixes of its names. */
export function createXmlReader(events: XmlEvents) {
  const prefixes = new Map<string, string>()
  let depth = 0

  function usual(name: string): string {
    if (prefixes.size === 0) return name
    const colon = name.indexOf(':')
    const prefix = prefixes.get(colon < 0 ? '' : name.slice(0, colon))
    return prefix === undefined ? name : `${prefix}:${name.slice(colon + 1)}`
  }

  function learn(attributes: Attributes): void {
    for (const [name, uri] of Object.entries(attributes)) {
      if (!name.startsWith('xmlns')) continue
      const own = name.slice('xmlns:'.length)
      const known = knownNames.find(([pattern]) => pattern.test(uri))?.[1]
      if (known !== undefined && known !== own && prefixes.size < 50) prefixes.set(own, known)
    }
  }

  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > maxDepth)
          throw new UnreadableFile('damaged', 'This document nests its elements too deeply to be read.')
        learn(attributes)
        events.open(usual(name), attributes)
      },
      onclosetag(name) {
        depth--
        events.close(usual(name))
      },
      ontext: (text) => events.text(text),
    },
    { xmlMode: true, decodeEntities: true },
  )
  return { write: (text: string): void => parser.write(text), end: (): void => parser.end() }
}

/** Tells of the elements of a text of XML alone, as they open. */
export function readOpened(xml: string, open: XmlEvents['open']): void {
  const reader = createXmlReader({ open, close: () => undefined, text: () => undefined })
  reader.write(xml)
  reader.end()
}

/** What a text of XML becomes, as it is read. */
export function* blocksOfXml(xml: string, body: XmlEvents & { take(): Block[] }): Generator<Block> {
  const reader = createXmlReader(body)
  for (let at = 0; at < xml.length; at += pieceCharacters) {
    reader.write(xml.slice(at, at + pieceCharacters))
    yield* body.take()
  }
  reader.end()
  yield* body.take()
}

const pieceCharacters = 256 * 1024

/** An attribute by its name without prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  for (const [key, value] of Object.entries(attributes)) if (key === name || key.endsWith(`:${name}`)) return value
  return undefined
}
