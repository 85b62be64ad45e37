import { type Connection, Schema, type SchemaDefinition } from 'mongoose'
import Type, { type TObject, type TSchema } from 'typebox'
import type { DeclaredRecord } from '../../../domain/records/declared-record.ts'
import { declaredRecords } from '../../../domain/records/declared-records.ts'
import type { DeclaredCollections } from '../../../services/collections.ts'
import { schemaOptions } from '../schema-options.ts'

/** The models of the declared records, with their indexes. */
export function declaredModels(connection: Connection): DeclaredCollections {
  const models = Object.entries<DeclaredRecord>(declaredRecords).map(
    ([name, { model, collection, schema, indexes }]) => {
      const made = new Schema(membersOf(schema), schemaOptions(collection))
      for (const [members, options] of indexes) made.index(members, options)
      return [name, connection.model(model, made)]
    },
  )
  // Names and types of both come from the same declarations.
  return Object.fromEntries(models) as DeclaredCollections
}

function membersOf({ properties }: TObject): SchemaDefinition {
  return Object.fromEntries(
    Object.entries(properties).map(([name, member]) => {
      const type = typeOf(member, name)
      if (Type.IsOptional(member)) return [name, { type }]
      // Mongoose takes an empty text for a missing one.
      const mayBeEmpty = Type.IsString(member) && !('minLength' in member)
      return [name, mayBeEmpty ? { type, default: '' } : { type, required: true }]
    }),
  )
}

function typeOf(member: TSchema, name: string): unknown {
  if ('bson' in member) return Date
  if (Type.IsString(member) || Type.IsEnum(member)) return String
  if (Type.IsNumber(member) || Type.IsInteger(member)) return Number
  if (Type.IsBoolean(member)) return Boolean
  if (Type.IsArray(member)) return [typeOf(member.items, name)]
  if (Type.IsObject(member)) return new Schema(membersOf(member), { _id: false })
  throw new Error(`the member ${name} of a record has a type that no model has`)
}
