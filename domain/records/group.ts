import Type from 'typebox'
import { toolTypes } from '../acting.ts'
import { type RecordOf, StoredId, StoredTime, declareRecord } from './declared-record.ts'

export const groupLimits = {
  /** Of a name, and of what an identity provider calls a group. */
  nameLength: 256,
  /** In which one user can be, of each kind. */
  ofUser: 500,
  /** That identity providers can bring into being. */
  claimed: 10_000,
  /** Models, hosts and kinds of tools that one group is allowed, each. */
  allowed: 200,
} as const

/** Who says who is in a group: an operator, an identity provider at each login, or provisioning (SCIM). */
export const groupSources = ['operator', 'provider', 'scim'] as const
export type GroupSource = (typeof groupSources)[number]

/** Its record says what everybody is allowed. */
export const everyone = 'everyone'

const names = Type.Optional(Type.Array(Type.String()))

/** What the members of a group are allowed beside what everybody is; an absent list adds nothing. */
const Allowed = Type.Object({
  models: names,
  tool_types: Type.Optional(Type.Array(Type.Enum([...toolTypes]))),
  hosts: names,
})

/**
 * Several users, to whom projects give roles and operators allow models, tools and hosts. Who is in it stands in the records
 * of the users. Groups of different sources are never the same, whatever they are called.
 */
const Group = Type.Object({
  _id: StoredId,
  /** As people see it. */
  name: Type.String({ minLength: 1, maxLength: groupLimits.nameLength }),
  source: Type.Enum([...groupSources]),
  /** Of an identity provider, its issuer and the claim; else empty. */
  realm: Type.String(),
  /** What makes it the same group within its source: the value of the claim, or its name in lower case. */
  key: Type.String({ minLength: 1 }),
  /** What the provisioning system calls it. */
  external_id: Type.Optional(Type.String()),
  /** Users who are not in it see it too. */
  listed: Type.Optional(Type.Boolean()),
  allowed: Type.Optional(Allowed),
  /** Nobody is to be in it any more. */
  deleting: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
  updated_at: StoredTime,
})

export const groupRecord = declareRecord({
  model: 'Group',
  collection: 'groups',
  schema: Group,
  owners: [],
  indexes: [
    [{ source: 1, realm: 1, key: 1 }, { unique: true }],
    [{ name: 1, _id: 1 }],
    [{ deleting: 1 }, { partialFilterExpression: { deleting: { $exists: true } } }],
  ],
  archive: undefined,
})
export type GroupRecord = RecordOf<typeof groupRecord>
export type GroupAllowed = NonNullable<GroupRecord['allowed']>
