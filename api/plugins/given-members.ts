import { cutText } from '../../domain/cut-text.ts'
import type { FieldProblem } from '../../domain/errors.ts'
import { isJsonObject } from '../../domain/json.ts'

type Loc = (string | number)[]
type Schema = Record<string, unknown>

/** By the title of the schema of an object: members that it does not have and that change no answer, each with the reason. */
export type WithoutEffect = Record<string, Record<string, string>>

/**
 * Prepares the body of a request for its check, as clients of OpenAI's interface expect it: removes members that are null
 * where the schema has no null (`null` is absent), and those without effect. Returns the first object whose kind (`type`)
 * the schema does not know: what else is wrong with it does not matter then. Free-form objects stay as they are.
 */
export function prepareGiven(schema: unknown, body: unknown, withoutEffect: WithoutEffect): FieldProblem | undefined {
  if (!isJsonObject(schema)) return undefined
  let known = ofSchemas.get(schema)
  if (known?.effects !== withoutEffect) ofSchemas.set(schema, (known = { effects: withoutEffect, all: read([schema]) }))
  return prepare(known.all, body, ['body'], withoutEffect)
}

/** What is read of the schema of a route, with its first request. */
const ofSchemas = new WeakMap<object, { effects: WithoutEffect; all: Alternatives }>()

/** What the check needs to know of the schemas that a value may have, each read once. */
interface Alternatives {
  /** Of the items of a list; undefined if no schema says what they are. */
  items: () => Alternatives | undefined
  /** The schemas of objects that a value with this `type` can mean. */
  ofKind: (type: unknown) => ObjectSchemas
}

interface ObjectSchemas {
  /** Whether any of the schemas is that of an object with named members. */
  some: boolean
  meant: Schema[]
  isStrict: boolean
  /** By the names that the schemas declare: what comes from a request is never kept. */
  declared: ReadonlyMap<string, () => Declared>
}

interface Declared {
  all: Alternatives
  takesNull: boolean
}

function read(given: unknown[]): Alternatives {
  const schemas = given.flatMap(alternativesOf)
  const objects = schemas.filter(({ properties }) => isJsonObject(properties))
  const kinds = new Set(objects.flatMap((schema) => kindsOf(schema) ?? []))
  const isOfKind = (schema: Schema, type: unknown) => kindsOf(schema)?.includes(type) ?? true
  const byKind = new Map<unknown, ObjectSchemas>()
  return {
    items: once(() => {
      const items = schemas.flatMap((schema) => (isJsonObject(schema['items']) ? [schema['items']] : []))
      return items.length === 0 ? undefined : read(items)
    }),
    ofKind(type) {
      const isText = typeof type === 'string'
      // All that is not known is kept as one.
      const key = isText && !kinds.has(type) ? unknownKind : isText ? type : undefined
      let known = byKind.get(key)
      if (known === undefined) {
        const meant = isText ? objects.filter((schema) => isOfKind(schema, type)) : objects
        byKind.set(key, (known = { ...objectSchemas(meant), some: objects.length > 0 }))
      }
      return known
    },
  }
}

const unknownKind = Symbol('unknown kind')

function objectSchemas(meant: Schema[]): Omit<ObjectSchemas, 'some'> {
  const names = new Set(meant.flatMap(({ properties }) => (isJsonObject(properties) ? Object.keys(properties) : [])))
  const declared = new Map(
    [...names].map((name) => [
      name,
      once(() => {
        const schemas = meant.flatMap((schema) => propertyOf(schema, name))
        return { all: read(schemas), takesNull: schemas.some(takesNull) }
      }),
    ]),
  )
  return { meant, declared, isStrict: meant.every(({ additionalProperties }) => additionalProperties === false) }
}

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

function prepare(all: Alternatives, value: unknown, loc: Loc, effects: WithoutEffect): FieldProblem | undefined {
  if (Array.isArray(value)) {
    const items = all.items()
    if (items === undefined) return undefined
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index]
      if (typeof item !== 'object') continue
      const problem = prepare(items, item, [...loc, index], effects)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return isJsonObject(value) ? prepareObject(all, value, loc, effects) : undefined
}

function prepareObject(
  all: Alternatives,
  value: Record<string, unknown>,
  loc: Loc,
  effects: WithoutEffect,
): FieldProblem | undefined {
  const { some, meant, isStrict, declared } = all.ofKind(value['type'])
  if (meant.length === 0)
    return some
      ? {
          loc: [...loc, 'type'],
          msg: `${cutText(String(value['type']), shownLength)} is not available here`,
          type: 'unsupported',
        }
      : undefined
  for (const [name, member] of Object.entries(value)) {
    const known = declared.get(name)?.()
    const isAbsent = member === null && (known === undefined ? isStrict : !known.takesNull)
    const hasNoEffect = known === undefined && meant.some((schema) => isListed(schema, name, effects))
    if (isAbsent || hasNoEffect) {
      delete value[name]
      continue
    }
    if (known === undefined || typeof member !== 'object') continue
    const problem = prepare(known.all, member, [...loc, name], effects)
    if (problem !== undefined) return problem
  }
  return undefined
}

const shownLength = 64

function alternativesOf(schema: unknown): Schema[] {
  if (!isJsonObject(schema)) return []
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.flatMap(alternativesOf) : [schema]
}

function propertyOf({ properties }: Schema, name: string): unknown[] {
  return isJsonObject(properties) && Object.hasOwn(properties, name) ? [properties[name]] : []
}

/** The values of `type` that an object of this schema can have; undefined if the schema does not say. */
function kindsOf(schema: Schema): unknown[] | undefined {
  const [type] = propertyOf(schema, 'type')
  if (!isJsonObject(type)) return undefined
  if ('const' in type) return [type['const']]
  return Array.isArray(type['enum']) ? type['enum'] : undefined
}

function takesNull(schema: unknown): boolean {
  if (!isJsonObject(schema)) return false
  const { type, anyOf, enum: values } = schema
  if (Array.isArray(anyOf)) return anyOf.some(takesNull)
  if (Array.isArray(values)) return values.includes(null)
  if ('const' in schema) return schema['const'] === null
  return type === undefined || type === 'null' || (Array.isArray(type) && type.includes('null'))
}

function isListed({ title }: Schema, name: string, effects: WithoutEffect): boolean {
  return typeof title === 'string' && Object.hasOwn(effects, title) && Object.hasOwn(effects[title] ?? {}, name)
}
