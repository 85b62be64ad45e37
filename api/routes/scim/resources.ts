import { isJsonObject } from '../../../domain/json.ts'
import { groupSchema, userSchema } from '../../../domain/scim/user.ts'
import type { SeenGroup } from '../../../services/scim/groups.ts'
import type { SeenUser } from '../../../services/scim/users.ts'

/** A user as RFC 7643, section 4.1, has him. */
export function toUser(user: SeenUser, root: string) {
  const { givenName, familyName } = user
  const name = {
    ...(givenName === undefined ? {} : { givenName }),
    ...(familyName === undefined ? {} : { familyName }),
  }
  return {
    schemas: [userSchema],
    id: user.id,
    ...(user.externalId === undefined ? {} : { externalId: user.externalId }),
    userName: user.userName,
    ...(Object.keys(name).length === 0 ? {} : { name }),
    ...(user.displayName === undefined ? {} : { displayName: user.displayName }),
    active: user.active,
    ...(user.emails.length === 0 ? {} : { emails: user.emails }),
    ...(user.groups.length === 0
      ? {}
      : { groups: user.groups.map(({ id, name: display }) => ({ value: id, display, $ref: `${root}/Groups/${id}` })) }),
    meta: metaOf('User', `${root}/Users/${user.id}`, user),
  }
}

/** A group as RFC 7643, section 4.2, has it. */
export function toGroup(group: SeenGroup, root: string) {
  return {
    schemas: [groupSchema],
    id: group.id,
    ...(group.externalId === undefined ? {} : { externalId: group.externalId }),
    displayName: group.displayName,
    ...(group.members.length === 0
      ? {}
      : {
          members: group.members.map(({ id, name }) => ({
            value: id,
            display: name,
            type: 'User',
            $ref: `${root}/Users/${id}`,
          })),
        }),
    meta: metaOf('Group', `${root}/Groups/${group.id}`, group),
  }
}

function metaOf(
  resourceType: string,
  location: string,
  { createdAt, updatedAt }: { createdAt: Date; updatedAt: Date },
) {
  return {
    resourceType,
    created: createdAt.toISOString(),
    lastModified: updatedAt.toISOString(),
    location,
  }
}

export function listOf(resources: object[], { total, startIndex }: { total: number; startIndex: number }) {
  return {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

/** Names of attributes or of parts of them, such as `name.givenName`, also after the name of the schema. */
export interface IncludedNames {
  attributes?: readonly string[] | undefined
  excludedAttributes?: readonly string[] | undefined
}

const always = new Set(['id', 'schemas'])
/** Parts that only those get who name them: of members, a change is answered with what was sent. */
const onRequest: ReadonlySet<string> = new Set(['members.display'])

/** Only these attributes, or all but those, as the caller has asked; `id` and `schemas` always. */
export function chosenOf(resource: object, { attributes, excludedAttributes }: IncludedNames) {
  const wanted = partsByName(attributes)
  const unwanted = partsByName(excludedAttributes)
  return Object.fromEntries(
    Object.entries(resource).flatMap(([name, value]: [string, unknown]) => {
      if (always.has(name)) return [[name, value]]
      const only = wanted.get(name.toLowerCase())
      const without = unwanted.get(name.toLowerCase())
      if (without === 'all' || (wanted.size > 0 && only === undefined)) return []
      const isNamed = (part: string) =>
        only instanceof Set ? only.has(part) : !onRequest.has(`${name.toLowerCase()}.${part}`)
      const isShown = (part: string) => isNamed(part.toLowerCase()) && !without?.has(part.toLowerCase())
      const shown = withParts(value, isShown)
      return shown === undefined ? [] : [[name, shown]]
    }),
  )
}

/** Of each attribute that is named, all of it or the parts that are named. */
function partsByName(names: readonly string[] = []): Map<string, 'all' | Set<string>> {
  const found = new Map<string, 'all' | Set<string>>()
  for (const name of names) {
    const bare = name
      .trim()
      .toLowerCase()
      .replace(/^urn:.*:/, '')
    if (bare === '') continue
    const [attribute = '', part] = bare.split('.', 2)
    const earlier = found.get(attribute)
    if (part === undefined) found.set(attribute, 'all')
    else if (earlier !== 'all') found.set(attribute, (earlier ?? new Set()).add(part))
  }
  return found
}

/** Undefined if nothing of the value is left. */
function withParts(value: unknown, isShown: (part: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => withParts(one, isShown)).filter((one) => one !== undefined)
  if (!isJsonObject(value)) return value
  const visible = Object.entries(value).filter(([part]) => isShown(part))
  return visible.length === 0 ? undefined : Object.fromEntries(visible)
}
