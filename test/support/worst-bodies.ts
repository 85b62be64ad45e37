/** A JSON schema of `/openapi.json`. */
export type Schema = Record<string, any>

/**
 * Text that is dear to fold, match, split or escape, each in another way: one character that becomes eighteen, marks that
 * are put into order, numbers, pairs of characters, lines, Markdown, paths, and what JSON escapes.
 */
export const dearTexts = ['\ufdfa', 'a\u0300\u0316', '1,', '東', 'b\n', '*a_ ', '../', '\u0001"\\'] as const

interface Options {
  document: Schema
  /** Which of several forms, and which text. */
  variant: number
  /** Values of strings by the names of their members, such as ids. */
  known: Readonly<Record<string, unknown>>
}

/** The members of a body, whichever of several forms it has. */
export function membersOf(given: Schema, document: Schema): [name: string, schema: Schema][] {
  const schema = resolved(given, document)
  const forms: Schema[] = [...(schema['anyOf'] ?? []), ...(schema['oneOf'] ?? []), ...(schema['allOf'] ?? [])]
  return [...Object.entries<Schema>(schema['properties'] ?? {}), ...forms.flatMap((form) => membersOf(form, document))]
}

/** What a schema admits that fills its bounds, as far as the bytes allow. */
export function worstValue(schema: Schema, name: string, bytes: number, options: Options): unknown {
  return valueOf(schema, name, bytes, options)
}

function valueOf(given: Schema, name: string, bytes: number, options: Options): unknown {
  const schema = resolved(given, options.document)
  const { known, variant } = options
  if (schema['type'] === 'string' && name in known) return known[name]
  if ('const' in schema) return schema['const']
  if (Array.isArray(schema['enum'])) return schema['enum'][variant % schema['enum'].length]
  const forms: Schema[] = schema['anyOf'] ?? schema['oneOf'] ?? []
  if (forms.length > 0) {
    const useful = forms.filter((form) => resolved(form, options.document)['type'] !== 'null')
    return valueOf(useful[variant % useful.length] ?? {}, name, bytes, options)
  }
  switch (schema['type']) {
    case 'string':
      return textOf(schema, bytes, options)
    case 'integer':
    case 'number':
      return schema['maximum'] ?? schema['minimum'] ?? 1
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array': {
      const most = Math.min(schema['maxItems'] ?? 1000, 1000, Math.floor(bytes / 500))
      const length = Math.max(schema['minItems'] ?? 0, 1, most)
      const item = valueOf(schema['items'] ?? {}, name, bytes / length, options)
      return Array.from({ length }, () => item)
    }
    case 'object':
      return objectOf(schema, bytes, options)
    default:
      return freeForm(schema, bytes, options)
  }
}

function objectOf(schema: Schema, bytes: number, options: Options): unknown {
  const members = Object.entries<Schema>(schema['properties'] ?? {})
  const others: unknown = schema['additionalProperties']
  const [part = Object(others) === others ? Object(others) : undefined]: (Schema | undefined)[] = Object.values<Schema>(
    schema['patternProperties'] ?? {},
  )
  if (members.length === 0 && (part === undefined || Object.keys(part).length === 0))
    return freeForm(schema, bytes, options)
  const most = part === undefined ? 0 : Math.min(schema['maxProperties'] ?? 1000, 1000, Math.ceil(bytes / 500))
  const share = bytes / Math.max(1, members.length + most)
  const keys = Array.from({ length: most }, (_, index): [string, Schema] => [`k${index}`, part ?? {}])
  return Object.fromEntries(
    [...keys, ...members].map(([name, member]) => [name, valueOf(member, name, share, options)]),
  )
}

/** As many members as are admitted, and text. */
function freeForm(schema: Schema, bytes: number, { variant }: Options): Record<string, unknown> {
  const members = Math.min(schema['maxProperties'] ?? Infinity, 30_000, Math.floor(bytes / 100))
  return Object.fromEntries(
    Array.from({ length: members }, (_, index) =>
      index === 0 ? ['text', repeated(variant, bytes / 3, Infinity)] : [`k${index}`, [index]],
    ),
  )
}

/** Forms that patterns ask for. */
const shaped = ['a', '0'.repeat(32), 'https://example.com', 'a@example.com', '1', '2027-01-01', '#000000']

function textOf(schema: Schema, bytes: number, { variant }: Options): string {
  if (schema['format'] === 'date-time') return '2027-01-01T00:00:00.000Z'
  if (schema['format'] === 'email') return 'a@example.com'
  const pattern: unknown = schema['pattern']
  if (typeof pattern === 'string') {
    const longest = 'a'.repeat(Math.min(schema['maxLength'] ?? 1000, bytes))
    const expression = new RegExp(pattern, 'u')
    return [longest, ...shaped].find((text) => expression.test(text)) ?? 'a'
  }
  return repeated(variant, bytes, schema['maxLength'] ?? Infinity)
}

function repeated(variant: number, bytes: number, characters: number): string {
  const text = dearTexts[variant % dearTexts.length] ?? ''
  const size = Buffer.byteLength(JSON.stringify(text)) - 2
  return text.repeat(Math.max(1, Math.floor(Math.min(bytes / size, characters / text.length))))
}

function resolved(schema: Schema, document: Schema): Schema {
  const reference: unknown = schema['$ref']
  if (typeof reference !== 'string') return schema
  return resolved(document['components'].schemas[reference.split('/').at(-1) ?? ''] ?? {}, document)
}
