import { cutText } from '../../domain/cut-text.ts'
import type { FieldProblem } from '../../domain/errors.ts'
import { isJsonObject } from '../../domain/is-json-object.ts'

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
  return prepare([schema], body, ['body'], withoutEffect)
}

function prepare(schemas: unknown[], value: unknown, loc: Loc, effects: WithoutEffect): FieldProblem | undefined {
  const all = schemas.flatMap(alternativesOf)
  if (Array.isArray(value)) {
    const items = all.flatMap(({ items }) => (isJsonObject(items) ? [items] : []))
    if (items.length === 0) return undefined
    for (const [index, item] of value.entries()) {
      const problem = prepare(items, item, [...loc, index], effects)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return isJsonObject(value) ? prepareObject(all, value, loc, effects) : undefined
}

function prepareObject(
  all: Schema[],
  value: Record<string, unknown>,
  loc: Loc,
  effects: WithoutEffect,
): FieldProblem | undefined {
  const objects = all.filter(({ properties }) => isJsonObject(properties))
  const { type } = value
  const meant = typeof type === 'string' ? objects.filter((schema) => kindsOf(schema)?.includes(type) ?? true) : objects
  if (meant.length === 0)
    return objects.length === 0
      ? undefined
      : {
          loc: [...loc, 'type'],
          msg: `${cutText(String(type), shownLength)} is not available here`,
          type: 'unsupported',
        }
  for (const [name, member] of Object.entries(value)) {
    const declared = meant.flatMap((schema) => propertyOf(schema, name))
    const isStrict = meant.every(({ additionalProperties }) => additionalProperties === false)
    const isAbsent = member === null && (declared.length > 0 ? !declared.some(takesNull) : isStrict)
    const hasNoEffect = declared.length === 0 && meant.some((schema) => isListed(schema, name, effects))
    if (isAbsent || hasNoEffect) {
      delete value[name]
      continue
    }
    const problem = prepare(declared, member, [...loc, name], effects)
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
