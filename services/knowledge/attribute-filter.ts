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

/** Throws `invalid_input` for a filter that lacks a member of its type, or nests deeper than five levels. */
export function checkFilter(filter: AttributeFilter, loc: (string | number)[], depth = 1): void {
  if (depth > maxDepth) throw invalidInput(loc, `filters nest at most ${maxDepth} levels deep`)
  if (filter.type === 'and' || filter.type === 'or') {
    if (filter.filters === undefined) throw invalidInput([...loc, 'filters'], 'is required', 'missing')
    filter.filters.forEach((inner, index) => checkFilter(inner, [...loc, 'filters', index], depth + 1))
    return
  }
  if (filter.key === undefined) throw invalidInput([...loc, 'key'], 'is required', 'missing')
  if (filter.value === undefined) throw invalidInput([...loc, 'value'], 'is required', 'missing')
  const isList = filter.type === 'in' || filter.type === 'nin'
  if (Array.isArray(filter.value) !== isList)
    throw invalidInput([...loc, 'value'], `is ${isList ? '' : 'not '}a list with ${filter.type}`)
}

/** Whether a file with these attributes is wanted. A missing attribute equals nothing. */
export function isWanted(attributes: Attributes, filter: AttributeFilter): boolean {
  const { type, key = '', value, filters = [] } = filter
  const own = Object.hasOwn(attributes, key) ? attributes[key] : undefined
  switch (type) {
    case 'and':
      return filters.every((inner) => isWanted(attributes, inner))
    case 'or':
      return filters.some((inner) => isWanted(attributes, inner))
    case 'eq':
      return own !== undefined && own === value
    case 'ne':
      return own !== value
    case 'in':
      return Array.isArray(value) && value.some((one) => one === own)
    case 'nin':
      return Array.isArray(value) && !value.some((one) => one === own)
    case 'gt':
      return compared(own, value) > 0
    case 'gte':
      return compared(own, value) >= 0
    case 'lt':
      return compared(own, value) < 0
    case 'lte':
      return compared(own, value) <= 0
  }
}

/** NaN, which is neither more nor less, if the values are not of one type that has an order. */
function compared(own: unknown, value: unknown): number {
  if (typeof own === 'number' && typeof value === 'number') return own - value
  if (typeof own === 'string' && typeof value === 'string') return own < value ? -1 : own > value ? 1 : 0
  return Number.NaN
}
