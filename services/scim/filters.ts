import type { Comparison, ScimFilter } from '../../domain/scim/filter.ts'
import { ScimError } from '../../domain/scim/scim-error.ts'

/** What an attribute is in the database; `value` is in the form in which it is stored. */
type Condition = (operator: Comparison, value: unknown) => object
/** By the name of the attribute, in lower case. */
type Conditions = ReadonlyMap<string, Condition>

/** Whether users and groups are searched together. */
export interface Among {
  amongAll?: boolean
}

/** As a part of a pattern. */
export const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

function texts(member: string, { isLower = false } = {}): Condition {
  return (operator, value) => {
    if (operator === 'pr') return { [member]: { $exists: true } }
    if (typeof value !== 'string') throw new ScimError('invalidFilter', 'A text is compared with a text.')
    const text = isLower ? value.toLowerCase() : value
    if (operator === 'eq') return { [member]: text }
    if (operator === 'ne') return { [member]: { $ne: text } }
    const pattern = operator === 'sw' ? `^${escaped(text)}` : operator === 'ew' ? `${escaped(text)}$` : escaped(text)
    return { [member]: { $regex: pattern, ...(isLower ? {} : { $options: 'i' }) } }
  }
}

/** One of these members has it: what provisioning has set, or what the account has without it. */
const either =
  (known: Condition, otherwise: Condition): Condition =>
  (operator, value) => ({
    $or: [known(operator, value), { $and: [{ scim: { $exists: false } }, otherwise(operator, value)] }],
  })

const active: Condition = (operator, value) => {
  const isActive = operator === 'ne' ? value !== true : value === true || value === 'true'
  return operator === 'pr' ? {} : { deactivated_at: { $exists: !isActive } }
}

const address = texts('email', { isLower: true })
const times =
  (member: string): Condition =>
  (operator) => {
    if (operator === 'pr') return { [member]: { $exists: true } }
    throw new ScimError('invalidFilter', 'Times are compared by pr only.')
  }

const nothing = { _id: { $in: [] } }

/** What is the same of all that are searched. */
const always =
  (known: string): Condition =>
  (operator, value) => {
    if (operator === 'pr') return {}
    if (typeof value !== 'string') throw new ScimError('invalidFilter', 'A text is compared with a text.')
    const [found, text] = [known.toLowerCase(), value.toLowerCase()]
    const isMet = {
      eq: found === text,
      ne: found !== text,
      sw: found.startsWith(text),
      ew: found.endsWith(text),
      co: found.includes(text),
    }[operator]
    return isMet ? {} : nothing
  }

/** An attribute that only others have has no value here. */
const absent: Condition = (operator) => (operator === 'ne' ? {} : nothing)

export const userConditions = new Map<string, Condition>([
  ['id', texts('_id')],
  ['username', either(texts('scim.user_name', { isLower: true }), address)],
  ['externalid', texts('scim.external_id')],
  ['displayname', texts('scim.display_name')],
  ['name.givenname', texts('first_name')],
  ['name.familyname', texts('last_name')],
  ['emails', address],
  ['emails.value', address],
  ['active', active],
  ['groups.value', texts('group_ids')],
  ['meta.created', times('created_at')],
  ['meta.lastmodified', times('created_at')],
  ['meta.resourcetype', always('User')],
])

export const groupConditions = new Map<string, Condition>([
  ['id', texts('_id')],
  ['displayname', (operator, value) => (operator === 'pr' ? {} : texts('key', { isLower: true })(operator, value))],
  ['externalid', texts('external_id')],
  ['meta.created', times('created_at')],
  ['meta.lastmodified', times('updated_at')],
  ['meta.resourcetype', always('Group')],
])

/** Throws `invalidFilter` for an attribute that is not searched, unless it is one of the `others` that are searched too. */
export function toConditions(filter: ScimFilter, conditions: Conditions, others?: Conditions): object {
  switch (filter.kind) {
    case 'and':
      return { $and: filter.parts.map((part) => toConditions(part, conditions, others)) }
    case 'or':
      return { $or: filter.parts.map((part) => toConditions(part, conditions, others)) }
    case 'not':
      return { $nor: [toConditions(filter.part, conditions, others)] }
    case 'compare': {
      const name = filter.path.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/i, '').toLowerCase()
      const condition = conditions.get(name) ?? (others?.has(name) === true ? absent : undefined)
      if (condition === undefined)
        throw new ScimError('invalidFilter', `${filter.path.slice(0, 100)} cannot be searched for here.`)
      return condition(filter.operator, filter.value)
    }
  }
}
