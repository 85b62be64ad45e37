import { CST, Lexer, type YAMLMap, isScalar, parseDocument, visit } from 'yaml'
import { cutText } from '../cut-text.ts'
import { foreignJsonDepth } from '../foreign-json.ts'

/** What a YAML text from outside may hold. Text of these many entries and lines is parsed in a tenth of a second. */
export const foreignYaml = { bytes: 1024 * 1024, depth: foreignJsonDepth, entries: 5000, lines: 30_000 } as const

/** Why a YAML text is refused, as its author may read it. */
export class YamlError extends Error {
  override name = 'YamlError'
}

/** Parts of the language that a settings file does not need, and with which a small text can hold a large value. */
const refused = new Map([
  ['anchor', 'an anchor (&)'],
  ['alias', 'an alias (*)'],
  ['tag', 'a tag (!)'],
  ['directive-line', 'a directive (%)'],
  ['explicit-key-ind', 'an explicit key (?)'],
])

/**
 * The one door for YAML: measures the text before it parses it, because the parser calls itself for each level and can
 * hold the process up. The value is what JSON can hold: objects whose keys are texts, lists, texts, numbers, booleans
 * and null. Throws `YamlError`.
 */
export function parseForeignYaml(text: string): unknown {
  if (Buffer.byteLength(text) > foreignYaml.bytes)
    throw new YamlError(`is larger than ${foreignYaml.bytes.toLocaleString('en-US')} bytes`)
  measure(text)
  // Its own check of unique keys compares each with all before it.
  const document = parseDocument(text, { schema: 'core', stringKeys: true, uniqueKeys: false, logLevel: 'error' })
  const problem = document.errors[0] ?? document.warnings[0]
  if (problem !== undefined) throw new YamlError(`is not valid YAML: ${problem.message.split('\n', 1)[0] ?? ''}`)
  visit(document, {
    Scalar: (_key, { value }) => {
      if (typeof value === 'number' && !Number.isFinite(value))
        throw new YamlError('holds a number that is out of range')
    },
    Map: (_key, map) => requireUniqueKeys(map),
  })
  const value: unknown = document.toJS({ maxAliasCount: 0 })
  return value
}

function requireUniqueKeys({ items }: YAMLMap): void {
  const seen = new Set<unknown>()
  for (const { key } of items) {
    const name: unknown = isScalar(key) ? key.value : undefined
    if (typeof name !== 'string') throw new YamlError('has a key that is not a text')
    if (seen.has(name)) throw new YamlError(`has the key ${JSON.stringify(cutText(name, 100))} twice`)
    seen.add(name)
  }
}

/** One pass over the words of the text, which stops at the first excess. */
function measure(text: string): void {
  const counts = { brackets: 0, dashes: 0, entries: 0, lines: 0 }
  /** Spaces before the first word of the line. */
  let indent = 0
  let isStart = true
  for (const source of new Lexer().lex(text)) {
    const type = CST.tokenType(source)
    const name = refused.get(type ?? '')
    if (name !== undefined) throw new YamlError(`holds ${name}, which is not supported`)
    if (type === 'newline') {
      Object.assign(counts, { dashes: 0, lines: counts.lines + 1 })
      indent = 0
      isStart = true
    } else if (type === 'space' && isStart) indent = source.length
    else isStart = false
    counts.brackets += changes.brackets.get(type) ?? 0
    if (type === 'seq-item-ind') counts.dashes += 1
    if (changes.entries.has(type)) counts.entries += 1
    // Each level of a file in blocks is at least one space deeper, and usually two: eight leave room.
    if (counts.brackets > foreignYaml.depth || counts.dashes > foreignYaml.depth || indent > foreignYaml.depth * 8)
      throw new YamlError(`nests deeper than ${foreignYaml.depth} levels`)
    for (const limit of ['entries', 'lines'] as const)
      if (counts[limit] > foreignYaml[limit])
        throw new YamlError(`holds more than ${foreignYaml[limit].toLocaleString('en-US')} ${limit}`)
  }
}

type Word = ReturnType<typeof CST.tokenType>

const changes = {
  brackets: new Map<Word, number>([
    ['flow-seq-start', 1],
    ['flow-map-start', 1],
    ['flow-seq-end', -1],
    ['flow-map-end', -1],
  ]),
  entries: new Set<Word>(['seq-item-ind', 'map-value-ind', 'comma', 'flow-seq-start', 'flow-map-start']),
}
