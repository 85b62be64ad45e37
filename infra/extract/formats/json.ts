import type { Block } from '../../../domain/chunking/block.ts'
import { parseForeignJson } from '../../../domain/foreign-json.ts'
import { type Content, sizeOf } from '../content.ts'
import { readLines, readText } from '../read-text.ts'
import { readPlain } from './plain.ts'

const wholeDocumentBytes = 64 * 1024 * 1024
/**
 * Of any depth, because nothing here is recursive, and bounded in size when it was read. This runs in the confined
 * process, which also has limits of time and memory.
 */
const documentLimits = { bytes: Infinity, depth: Infinity, containers: 2_000_000, members: 10_000_000 }
const blockCharacters = 8 * 1024
/** How many names of outer members are kept in front of a value, and how long each may be. */
const pathDepth = 6
const nameCharacters = 200

/** JSON as lines `path: value`; larger documents, and text that is not JSON, are read as plain text. */
export async function* readJson(content: Content, extension: string): AsyncGenerator<Block> {
  if (extension === 'jsonl') {
    for await (const line of readLines(content)) {
      const value = parseOrUndefined(line)
      yield { kind: 'row', text: value === undefined ? line : [...leaves(value)].join('; ') }
    }
    return
  }
  const size = await sizeOf(content)
  const value = size <= wholeDocumentBytes ? parseOrUndefined(await wholeText(content)) : undefined
  if (value === undefined) yield* readPlain(content, 'code')
  else yield* grouped(leaves(value))
}

async function wholeText(content: Content): Promise<string> {
  let text = ''
  for await (const piece of readText(content)) text += piece
  return text
}

function parseOrUndefined(text: string): unknown {
  try {
    return parseForeignJson(text, documentLimits, asWritten)
  } catch (error) {
    // The parser is not recursive, except where values are replaced.
    return error instanceof RangeError ? parseAnyDepth(text) : undefined
  }
}

/** Numbers as they are written: long ones and `15.00` lose digits otherwise. */
function asWritten(_key: unknown, value: unknown, context: unknown): unknown {
  if (typeof value !== 'number' || typeof context !== 'object' || context === null) return value
  return 'source' in context && typeof context.source === 'string' ? context.source : value
}

function parseAnyDepth(text: string): unknown {
  try {
    return parseForeignJson(text, documentLimits)
  } catch {
    return undefined
  }
}

function* grouped(lines: Iterable<string>): Generator<Block> {
  let group: string[] = []
  let characters = 0
  for (const line of lines) {
    group.push(line)
    characters += line.length
    if (characters < blockCharacters) continue
    yield { kind: 'code', text: group.join('\n') }
    group = []
    characters = 0
  }
  if (group.length > 0) yield { kind: 'code', text: group.join('\n') }
}

/** Without recursion, because a document may be nested arbitrarily deep. */
function* leaves(root: unknown): Generator<string> {
  const open: { path: string[]; value: unknown }[] = [{ path: [], value: root }]
  for (let item = open.pop(); item; item = open.pop()) {
    const { path, value } = item
    if (typeof value !== 'object' || value === null) {
      const name = path.join('.')
      yield name === '' ? String(value) : `${name}: ${String(value)}`
      continue
    }
    const entries = Object.entries(value)
    for (let index = entries.length - 1; index >= 0; index--) {
      const entry = entries[index]
      if (!entry) continue
      const name = entry[0].slice(0, nameCharacters)
      open.push({ path: [...path.slice(1 - pathDepth), name], value: entry[1] })
    }
  }
}
