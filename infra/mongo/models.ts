import { type Connection, Schema, type SchemaDefinition } from 'mongoose'
import Type, { type TObject, type TSchema } from 'typebox'
import type { DeclaredRecord, StoredSchema } from '../../domain/records/declared-record.ts'
import { declaredRecords } from '../../domain/records/declared-records.ts'
import type { Collections } from '../../services/collections.ts'

/** Own string ids, no version key, empty objects are kept. */
const options = {
  versionKey: false,
  minimize: false,
  strict: 'throw',
  id: false,
  autoIndex: false,
  autoCreate: false,
} as const

/** The models of the declared records, with their indexes. */
export function declaredModels(connection: Connection): Collections {
  const models = Object.entries<DeclaredRecord>(declaredRecords).map(
    ([name, { model, collection, schema, indexes }]) => {
      const made = new Schema(membersOf(schema), { ...options, collection })
      for (const [members, rules] of indexes) made.index(members, rules)
      return [name, connection.model(model, made)]
    },
  )
  // Names and types of both come from the same declarations.
  return Object.fromEntries(models) as Collections
}

function membersOf(schema: StoredSchema): SchemaDefinition {
  const forms: TObject[] = Type.IsUnion(schema) ? schema.anyOf : [schema]
  const names = new Set(forms.flatMap(({ properties }) => Object.keys(properties)))
  return Object.fromEntries<StoredMember>(
    [...names].map((name) => {
      const having = forms.flatMap(({ properties: { [name]: member } }) => (member === undefined ? [] : [member]))
      const member = having.find((one) => Type.IsOptional(one)) ?? having[0] ?? Type.Never()
      return [name, memberOf(having.length < forms.length ? Type.Optional(member) : member, name)]
    }),
  )
}

interface StoredMember {
  type: unknown
  select?: false
  required?: true
  default?: '' | object | undefined
}

function memberOf(member: TSchema, name: string): StoredMember {
  const stored: StoredMember = { type: typeOf(member, name), ...('hidden' in member ? { select: false } : {}) }
  // Mongoose makes an empty list of a missing one, and would store it.
  if (Type.IsOptional(member)) return Type.IsArray(member) ? { ...stored, default: undefined } : stored
  // Mongoose drops an empty object from an update.
  if (stored.type === Schema.Types.Mixed) return { ...stored, default: {} }
  // Mongoose takes an empty text for a missing one.
  const mayBeEmpty = Type.IsString(member) && !('minLength' in member)
  return mayBeEmpty ? { ...stored, default: '' } : { ...stored, required: true }
}

const storedTypes: Record<string, unknown> = { date: Date, bytes: Buffer, text: String, mixed: Schema.Types.Mixed }

function typeOf(member: TSchema, name: string): unknown {
  if ('bson' in member) return storedTypes[String(member.bson)]
  if (Type.IsString(member) || Type.IsEnum(member)) return String
  if (Type.IsNumber(member) || Type.IsInteger(member)) return Number
  if (Type.IsBoolean(member) || (Type.IsLiteral(member) && typeof member.const === 'boolean')) return Boolean
  if (Type.IsArray(member)) return [typeOf(member.items, name)]
  if (Type.IsObject(member)) return new Schema(membersOf(member), { _id: false })
  throw new Error(`the member ${name} of a record has a type that no model has`)
}
