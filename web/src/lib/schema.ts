import { type JsonObject, asList, asObject } from './json.ts'

/** How deep a form follows the objects of a schema; deeper ones are written as JSON. */
const deepest = 2

type FieldKind = 'choice' | 'boolean' | 'number' | 'switches' | 'texts' | 'pairs' | 'object' | 'text' | 'json'

/** Which field fits a member. */
export function fieldOf(schema: JsonObject, depth: number): FieldKind {
  if (choicesOf(schema).length > 0) return 'choice'
  switch (schema['type']) {
    case 'boolean':
      return 'boolean'
    case 'number':
    case 'integer':
      return 'number'
    case 'string':
      return 'text'
    case 'array': {
      const items = asObject(schema['items'])
      if (items['type'] !== 'string') return 'json'
      return choicesOf(items).length > 0 ? 'switches' : 'texts'
    }
    case 'object': {
      if (Object.keys(asObject(schema['properties'])).length > 0) return depth < deepest ? 'object' : 'json'
      const [values = schema['additionalProperties']] = Object.values(asObject(schema['patternProperties']))
      return asObject(values)['type'] === 'string' ? 'pairs' : 'json'
    }
    default:
      return 'json'
  }
}

/** The texts or numbers of which a member is one; none when it may be something else, too. */
export function choicesOf(schema: JsonObject): (string | number)[] {
  const all = asList(schema['enum'])
  const simple = all.filter((value) => typeof value === 'string' || typeof value === 'number')
  return simple.length === all.length ? simple : []
}

export function defaultOf(schema: JsonObject): unknown {
  return schema['default']
}

/** The title; without one, the name of the member in words. */
export function labelOf(name: string, { title }: JsonObject): string {
  if (typeof title === 'string' && title !== '') return title
  const words = name.replaceAll('_', ' ').replaceAll(/\b(url|http|mcp)\b/g, (word) => word.toUpperCase())
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** A member that may be null, or something else, is a field for that: an empty field is no member. */
export function withoutNull(schema: JsonObject): JsonObject {
  const { type } = schema
  if (Array.isArray(type)) {
    const others = type.filter((one) => one !== 'null')
    return others.length === 1 ? { ...schema, type: others[0] } : schema
  }
  const { anyOf, oneOf, ...rest } = schema
  const parts = asList(anyOf ?? oneOf)
  const others = parts.filter((part) => asObject(part)['type'] !== 'null')
  return others.length === 1 && parts.length === 2 ? { ...asObject(others[0]), ...rest } : schema
}

/** The schema with fields for what is given though the schema does not name it: nobody approves what is not shown. */
export function withUnknown(schema: JsonObject, given: JsonObject): JsonObject {
  const known = asObject(schema['properties'])
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(known, name))
  return { ...schema, properties: { ...known, ...Object.fromEntries(unknown.map((name) => [name, {}])) } }
}

/** The defaults of the schema; a required switch is off. */
export function firstArguments(parameters: JsonObject): JsonObject {
  const required = asList(parameters['required'])
  const known = Object.entries(asObject(parameters['properties'])).flatMap(([name, member]) => {
    const { default: given, type } = asObject(member)
    const first = given ?? (type === 'boolean' && required.includes(name) ? false : undefined)
    return first === undefined ? [] : [[name, first] as const]
  })
  return Object.fromEntries(known)
}
