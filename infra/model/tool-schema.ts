import { isJsonObject } from '../../domain/json.ts'
import type { JsonSchema } from '../../domain/tool-arguments.ts'
import { type JsonObject, isArray } from './foreign-values.ts'

/** Deeper schemas, and those that contain themselves, end in one that takes anything. */
const maxDepth = 20
const combining = ['anyOf', 'oneOf', 'allOf'] as const
/** How much one schema may become: references that are replaced multiply what they refer to. */
const maxNodes = 5000
/** What every server that restricts schemas knows. */
const plainKeywords = new Set([
  'type',
  'description',
  'enum',
  'properties',
  'required',
  'items',
  'anyOf',
  'nullable',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
])

/**
 * A schema of a tool's arguments that servers take: an object with `properties` at the top, without combinations there,
 * and lists that say what they hold. With `isPlain`, references are replaced and unknown keywords left out. What the
 * schema no longer says is still checked before the tool is executed.
 */
export function repairedSchema(schema: JsonSchema, { isPlain = false } = {}): JsonObject {
  const root: JsonObject = { ...schema }
  const budget = { left: maxNodes }
  const top = objectAtTop(root, { root, depth: 0, followed: new Set([root]), budget })
  const { $defs, definitions, ...others } = top
  const repaired = repairedNode(others, { root, isPlain, depth: 0, seen: [], budget })
  const withDefs = isPlain
    ? repaired
    : {
        ...repaired,
        ...(isJsonObject($defs) ? { $defs: repairedEach($defs, root, budget) } : {}),
        ...(isJsonObject(definitions) ? { definitions: repairedEach(definitions, root, budget) } : {}),
      }
  return isJsonObject(withDefs['properties']) ? withDefs : { ...withDefs, properties: {} }
}

/** The nodes that one schema may still have. */
interface Budget {
  left: number
}

function repairedEach(schemas: JsonObject, root: JsonObject, budget: Budget): JsonObject {
  const context = { root, isPlain: false, depth: 1, seen: [], budget }
  return Object.fromEntries(Object.entries(schemas).map(([name, one]) => [name, repairedAny(one, context)]))
}

interface TopContext {
  root: JsonObject
  depth: number
  /** References that were followed: a second time they add nothing. */
  followed: Set<JsonObject>
  budget: Budget
}

/** Its members and those of what it refers to or combines, as one object. Of alternatives no member is required. */
function objectAtTop(schema: JsonObject, context: TopContext): JsonObject {
  const { root, depth, followed, budget } = context
  const target = referredBy(schema, root)
  const referred = target === undefined || followed.has(target) ? undefined : target
  if (referred !== undefined) followed.add(referred)
  const {
    $ref: _ref,
    anyOf,
    oneOf,
    allOf,
    not: _not,
    enum: _enum,
    const: _const,
    if: _if,
    then: _then,
    else: _else,
    ...own
  } = schema
  const parts = [anyOf, oneOf, allOf].flatMap((one) => (isArray(one) ? one.filter(isJsonObject) : []))
  const merged: JsonObject = { ...own, type: 'object' }
  const all = new Set(isArray(allOf) ? allOf : [])
  // Copied once for all parts, of which there may be thousands.
  const members = new Map(
    ['properties', '$defs', 'definitions'].map((name) => [name, new Map(Object.entries(objectOr(own[name])))]),
  )
  const required = new Set(arrayOr(own['required']))
  for (const part of depth > maxDepth ? [] : [...(referred ? [referred] : []), ...parts]) {
    if (budget.left-- <= 0) break
    const found = objectAtTop(part, { ...context, depth: depth + 1 })
    if (found['description'] !== undefined) merged['description'] ??= found['description']
    for (const [name, known] of members)
      for (const [key, value] of Object.entries(objectOr(found[name]))) if (!known.has(key)) known.set(key, value)
    if (part === referred || all.has(part)) for (const name of arrayOr(found['required'])) required.add(name)
  }
  for (const [name, known] of members) if (known.size > 0) merged[name] = Object.fromEntries(known)
  if (required.size > 0) merged['required'] = [...required]
  return merged
}

interface Context {
  root: JsonObject
  isPlain: boolean
  depth: number
  /** References around this schema: one that comes again is a recursion. */
  seen: JsonObject[]
  budget: Budget
}

function repairedAny(schema: unknown, context: Context): unknown {
  if (schema === true || !isJsonObject(schema)) return context.isPlain ? { type: 'string' } : (schema ?? {})
  return repairedNode(schema, context)
}

function repairedNode(given: JsonObject, { root, isPlain, depth, seen, budget }: Context): JsonObject {
  if (depth > maxDepth) return {}
  if (budget.left <= 0) return isPlain ? { type: 'object' } : {}
  const referred = isPlain ? referredBy(given, root) : undefined
  if (referred !== undefined && seen.includes(referred)) return { type: 'object', ...described(given) }
  const within = referred === undefined ? seen : [...seen, referred]
  const context = { root, isPlain, depth: depth + 1, seen: within, budget }
  const schema = isPlain ? plainNode({ ...referred, ...given }) : given
  budget.left -= isPlain ? weightOf(schema) : 1
  const node: JsonObject = {}
  for (const [name, value] of Object.entries(schema)) {
    if (name === 'properties' && isJsonObject(value))
      node[name] = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, repairedAny(one, context)]))
    else if (name === 'items')
      node[name] = isArray(value) ? repairedAny(value[0] ?? {}, context) : repairedAny(value, context)
    else if (combining.some((one) => one === name) && isArray(value))
      node[name] = value.map((one) => repairedAny(one, context))
    else node[name] = value
  }
  const isList = node['type'] === 'array' || (isArray(node['type']) && node['type'].includes('array'))
  if (isList && node['items'] === undefined) node['items'] = isPlain ? { type: 'string' } : {}
  return node
}

/** Long texts and lists count, too: each reference repeats them. */
function weightOf(schema: JsonObject): number {
  let weight = 1
  for (const value of Object.values(schema))
    if (typeof value === 'string') weight += Math.floor(value.length / 100)
    else if (isArray(value)) weight += value.length
  return weight
}

/** Only keywords that every server knows, and one type for each value. */
function plainNode(schema: JsonObject): JsonObject {
  const { const: constant, oneOf, allOf, type, ...others } = schema
  const [first] = isArray(allOf) ? allOf : []
  const merged: JsonObject = { ...(isJsonObject(first) ? plainNode(first) : {}), ...others }
  if (typeof constant === 'string') merged['enum'] = [constant]
  if (isArray(oneOf)) merged['anyOf'] ??= oneOf
  if (isArray(type)) {
    const [main = 'string'] = type.filter((one) => one !== 'null')
    merged['type'] = main
    if (type.includes('null')) merged['nullable'] = true
  } else if (type !== undefined) merged['type'] = type
  // Numbers among allowed values are refused.
  if (isArray(merged['enum']) && merged['enum'].some((value) => typeof value !== 'string')) delete merged['enum']
  return Object.fromEntries(Object.entries(merged).filter(([name]) => plainKeywords.has(name)))
}

function referredBy({ $ref: ref }: JsonObject, root: JsonObject): JsonObject | undefined {
  if (typeof ref !== 'string' || !ref.startsWith('#')) return undefined
  let found: unknown = root
  for (const part of ref.slice(1).split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  return isJsonObject(found) ? found : undefined
}

function described({ description }: JsonObject): JsonObject {
  return typeof description === 'string' ? { description } : {}
}

function objectOr(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function arrayOr(value: unknown): unknown[] {
  return isArray(value) ? value : []
}

/** As long as the interface's own servers take. */
const maxDescriptionLength = 1024

/** The description of a tool in the length that servers take. */
export function shortened(description: string): string {
  if (description.length <= maxDescriptionLength) return description
  return `${description.slice(0, maxDescriptionLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
