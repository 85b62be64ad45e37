import { componentExamples } from './examples.ts'
import { parameterTexts } from './texts.ts'

type Document = { components?: { schemas?: Record<string, unknown> } }

/**
 * Moves every schema with a `title` into `components.schemas` under that name, with what its `about` says as the
 * description, and leaves a `$ref`, so that readers and generators see named types. `extra` are components that no
 * route refers to by itself. Throws if two different schemas have the same title.
 */
export function nameComponents<T extends object>(document: T, extra: Record<string, unknown> = {}): T {
  const components = new Map<string, { schema: object; json: string; about: unknown }>()
  const hoist = (value: unknown, key: string, isExtra = false): unknown => {
    if (Array.isArray(value)) return value.map((entry) => hoist(entry, '', isExtra))
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hoist(entry, name, isExtra)]))
    const title: unknown = copy['title']
    if (key === '' && isParameter(copy)) return { description: parameterTexts[copy.name], ...copy }
    if (typeof title !== 'string' || key === 'info' || key === 'properties') return copy
    // The description stays at the place of use, because one component may be described differently in many places.
    const { description, about, ...schema } = copy
    const json = JSON.stringify(schema)
    const known = components.get(title) ?? { schema, json, about }
    // The schemas of routes come through the OpenAPI plugin, which writes some keywords differently.
    if (!isExtra && known.json !== json) throw new Error(`two schemas are called ${title}`)
    components.set(title, { ...known, about: known.about ?? about })
    const reference = { $ref: `#/components/schemas/${title}` }
    return key === '' || description === undefined ? reference : { ...reference, description }
  }
  const paths = Object.fromEntries(
    Object.entries(document).map(([name, entry]) => [name, name === 'paths' ? hoist(entry, name) : entry]),
  )
  hoist(Object.values(extra), '', true)
  const existing = (document as Document).components
  const named = Object.fromEntries(
    [...components].map(([title, { schema, about }]) => [title, described(title, schema, about)]),
  )
  return { ...document, ...paths, components: { ...existing, schemas: { ...existing?.schemas, ...named } } }
}

/** An entry of an operation's `parameters`. */
function isParameter(value: object): value is { name: string } {
  return 'in' in value && 'name' in value && typeof value.name === 'string'
}

function described(title: string, schema: object, description: unknown): object {
  const example = componentExamples[title]
  const named = defaultsInWords({ ...schema, ...(description ? { description } : {}) })
  return { ...named, ...(example ? { examples: [example] } : {}) }
}

/**
 * States the defaults of members in their descriptions. One schema describes requests and answers; from the keyword
 * `default` generators conclude that an answer always has the member, and demand it in requests too.
 */
function defaultsInWords(schema: object): object {
  const { default: value, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([key, entry]: [string, unknown]) => [
      key,
      key === 'const' ? entry : inside(key, entry),
    ]),
  )
  if (value === undefined) return rest
  const { description } = rest
  const before = typeof description === 'string' ? `${description} ` : ''
  return { ...rest, description: `${before}Default: \`${JSON.stringify(value)}\`.` }
}

function inside(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((entry: unknown) => inside('', entry))
  if (typeof value !== 'object' || value === null) return value
  if (key !== 'properties') return defaultsInWords(value)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inside('', member)]))
}
