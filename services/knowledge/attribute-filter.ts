import { invalidInput } from '../../domain/errors.ts'

export type Attributes = Record<string, string | number | boolean>

const comparisons = ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin'] as const
export const filterTypes = [...comparisons, 'and', 'or'] as const

/** A comparison of one attribute, or several filters combined, as OpenAI's interface has them. */
export interface AttributeFilter {
  type: (typeof filterTypes)[number]
  key?: string | undefined
  value?: string | number | boolean | (string | number)[] | undefined
  filters?: AttributeFilter[] | undefined
}

const maxDepth = 5
/** Each is made with the attributes of each file. */
const maxComparisons = 100

/**
 * Throws `invalid_input` for a filter that lacks a member of its type, nests deeper than five levels, or has more than a
 * hundred comparisons.
 */
export function checkFilter(filter: AttributeFilter, loc: (string | number)[]): void {
  if (countOf(filter) > maxComparisons) throw invalidInput(loc, `has more than ${maxComparisons} comparisons`)
  checkMembers(filter, loc, 1)
}

function countOf({ filters = [] }: AttributeFilter): number {
  let count = 1
  for (const inner of filters) count += countOf(inner)
  return count
}

function checkMembers(filter: AttributeFilter, loc: (string | number)[], depth: number): void {
  if (depth > maxDepth) throw invalidInput(loc, `filters nest at most ${maxDepth} levels deep`)
  if (filter.type === 'and' || filter.type === 'or') {
    if (filter.filters === undefined) throw invalidInput([...loc, 'filters'], 'is required', 'missing')
    filter.filters.forEach((inner, index) => checkMembers(inner, [...loc, 'filters', index], depth + 1))
    return
  }
  if (filter.key === undefined) throw invalidInput([...loc, 'key'], 'is required', 'missing')
  if (filter.value === undefined) throw invalidInput([...loc, 'value'], 'is required', 'missing')
  const isList = filter.type === 'in' || filter.type === 'nin'
  if (Array.isArray(filter.value) !== isList)
    throw invalidInput([...loc, 'value'], `is ${isList ? '' : 'not '}a list with ${filter.type}`)
}

type IsWanted = (attributes: Attributes) => boolean

/** Reads a filter once for many files: whether one with these attributes is wanted. A missing attribute equals nothing. */
export function readFilter({ type, key = '', value, filters = [] }: AttributeFilter): IsWanted {
  const own = (attributes: Attributes) => (Object.hasOwn(attributes, key) ? attributes[key] : undefined)
  switch (type) {
    case 'and': {
      const all = filters.map(readFilter)
      return (attributes) => all.every((isWanted) => isWanted(attributes))
    }
    case 'or': {
      const some = filters.map(readFilter)
      return (attributes) => some.some((isWanted) => isWanted(attributes))
    }
    case 'eq':
      return (attributes) => Object.hasOwn(attributes, key) && attributes[key] === value
    case 'ne':
      return (attributes) => own(attributes) !== value
    case 'in':
    case 'nin': {
      const listed = new Set<unknown>(Array.isArray(value) ? value : [])
      const isIn = (attributes: Attributes) => listed.has(own(attributes))
      return type === 'in' ? isIn : (attributes) => Array.isArray(value) && !isIn(attributes)
    }
    case 'gt':
      return (attributes) => compared(own(attributes), value) > 0
    case 'gte':
      return (attributes) => compared(own(attributes), value) >= 0
    case 'lt':
      return (attributes) => compared(own(attributes), value) < 0
    case 'lte':
      return (attributes) => compared(own(attributes), value) <= 0
  }
}

/** NaN, which is neither more nor less, if the values are not of one type that has an order. */
function compared(own: unknown, value: unknown): number {
  if (typeof own === 'number' && typeof value === 'number') return own - value
  if (typeof own === 'string' && typeof value === 'string') return own < value ? -1 : own > value ? 1 : 0
  return Number.NaN
}
