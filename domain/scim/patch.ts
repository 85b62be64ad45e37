import { isJsonObject } from '../json.ts'
import { type ScimFilter, parseScimFilter } from './filter.ts'
import { ScimError } from './scim-error.ts'

/** A path of a change: an attribute, some of its values, a part of them. */
interface PatchPath {
  attribute: string
  /** Which values of a list. */
  chosen?: ScimFilter
  part?: string
}

export interface PatchOperation {
  op: 'add' | 'replace' | 'remove'
  path: PatchPath
  value: unknown
}

const maxOperations = 1000
const patchOps = ['add', 'replace', 'remove'] as const

/**
 * The operations of a PATCH (RFC 7644, section 3.5.2), each with a path: a value without one is taken apart, also as Entra ID
 * writes it, with paths for names.
 */
export function readPatch(body: unknown): PatchOperation[] {
  const given = isJsonObject(body) ? memberOf(body, 'Operations') : undefined
  if (!Array.isArray(given)) throw new ScimError('invalidSyntax', 'Operations must be a list.')
  if (given.length > maxOperations)
    throw new ScimError('invalidSyntax', `A request has at most ${maxOperations} operations.`)
  return given.flatMap((one: unknown) => operationsOf(one))
}

function operationsOf(given: unknown): PatchOperation[] {
  if (!isJsonObject(given)) throw new ScimError('invalidSyntax', 'An operation must be an object.')
  const { op: named, path, value } = given
  const op = patchOps.find((name) => typeof named === 'string' && named.toLowerCase() === name)
  if (op === undefined) throw new ScimError('invalidSyntax', 'op must be add, replace or remove.')
  if (typeof path === 'string' && path.trim() !== '') return [{ op, path: readPath(path), value }]
  if (path !== undefined && path !== null && path !== '') throw new ScimError('invalidPath', 'path must be a text.')
  if (op === 'remove') throw new ScimError('noTarget', 'An operation that removes needs a path.')
  if (!isJsonObject(value)) throw new ScimError('invalidValue', 'Without a path, value must be an object.')
  return Object.entries(value)
    .filter(([name]) => name !== 'schemas')
    .map(([name, part]) => ({ op, path: readPath(name), value: part }))
}

/** `members[value eq "…"]`, `emails[type eq "work"].value`, `name.givenName`, also after the name of the schema. */
function readPath(text: string): PatchPath {
  const path = text.trim().replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i, '')
  if (/^urn:/i.test(path)) return { attribute: path }
  const match = /^([a-z$][\w$-]*)(?:\[(.*)\])?(?:\.([a-z$][\w$-]*))?$/is.exec(path)
  const [, attribute, filter, part] = match ?? []
  if (attribute === undefined) throw new ScimError('invalidPath', 'The path of an operation cannot be read.')
  return {
    attribute,
    ...(filter === undefined ? {} : { chosen: parseScimFilter(filter) }),
    ...(part === undefined ? {} : { part }),
  }
}

/** A member, whatever the case of its name: names of attributes have none (RFC 7643, section 2.1). */
export function memberOf(object: Record<string, unknown>, name: string): unknown {
  const wanted = name.toLowerCase()
  return Object.entries(object).find(([key]) => key.toLowerCase() === wanted)?.[1]
}

/** Whether a value of a list is chosen. */
export function isChosen(value: Record<string, unknown>, filter: ScimFilter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.parts.every((part) => isChosen(value, part))
    case 'or':
      return filter.parts.some((part) => isChosen(value, part))
    case 'not':
      return !isChosen(value, filter.part)
    case 'compare': {
      const found = memberOf(value, filter.path)
      if (filter.operator === 'pr') return found !== undefined
      if (filter.operator === 'eq') return same(found, filter.value)
      if (filter.operator === 'ne') return !same(found, filter.value)
      throw new ScimError('invalidFilter', 'Values of a list are chosen by eq, ne or pr.')
    }
  }
}

function same(found: unknown, wanted: unknown): boolean {
  if (typeof found === 'string' && typeof wanted === 'string') return found.toLowerCase() === wanted.toLowerCase()
  return (found ?? false) === wanted
}

/** What a filter says that its values have: for a value that is to be there and is not. */
export function impliedBy(filter: ScimFilter): Record<string, unknown> {
  return Object.fromEntries(impliedEntries(filter))
}

function impliedEntries(filter: ScimFilter): [path: string, value: unknown][] {
  if (filter.kind === 'compare') return filter.operator === 'eq' ? [[filter.path, filter.value]] : []
  return filter.kind === 'and' ? filter.parts.flatMap(impliedEntries) : []
}
