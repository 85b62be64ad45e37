import mongoose from 'mongoose'
import { type Connection, Schema, type SchemaDefinition } from 'mongoose'
import Type from 'typebox'
import type { TObject, TSchema } from 'typebox'
import type { DeclaredRecord, StoredSchema } from '../../domain/records/declared-record.ts'
import { declaredRecords } from '../../domain/records/declared-records.ts'
import type { Collections } from '../../services/collections.ts'
import type { RunInTransaction } from '../../services/transactions.ts'
import { type TlsSettings, tlsOptions } from '../tls.ts'

export interface Database {
  collections: Collections
  connection: mongoose.Connection
  transaction: RunInTransaction
  /** Rejects when the database does not answer within a second. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** How often the first connection is tried: a server that has just started may take a few seconds. */
const connectAttempts = 3

/**
 * Distinguishes a server that is away from a slow one: the driver's monitor sends heartbeats to each server on a
 * separate connection. If there is no answer, the driver closes all connections to that server; waiting statements
 * are tried once more on an available server, and fail if there is none. Together this takes at most `timeoutMs`.
 * The service waits for slow statements.
 */
function timeLimits(timeoutMs: number) {
  return {
    heartbeatFrequencyMS: Math.max(500, timeoutMs / 8),
    connectTimeoutMS: (timeoutMs * 3) / 8,
    serverSelectionTimeoutMS: timeoutMs / 2,
    socketTimeoutMS: 60_000,
  }
}

/**
 * Connects, and returns the collections; the migrations make them (`composition/migrations.ts`). Writes are
 * acknowledged by a majority and journalled: a lower concern was seen to lose acknowledged writes when the database was
 * killed.
 */
export async function connectDatabase(
  uri: string,
  {
    tls = {},
    timeoutMs = 4000,
    hasLongStatements = false,
    onClient,
  }: {
    tls?: TlsSettings
    timeoutMs?: number
    /** No limit on one statement: building an index may take long. */
    hasLongStatements?: boolean
    onClient?: ((client: mongoose.mongo.MongoClient) => void) | undefined
  } = {},
): Promise<Database> {
  const files = tlsOptions(tls)
  const secure = files && { tls: true, ...files }
  const connection = mongoose.createConnection()
  connection.on('error', () => {
    // Operations report their own failures; without a listener the emitter would end the process.
  })
  for (let attempt = 1; connection.readyState !== mongoose.ConnectionStates.connected; attempt++) {
    await connection
      .openUri(uri, {
        writeConcern: { w: 'majority', journal: true },
        maxPoolSize: 50,
        // While the server is away, statements fail after the limits below instead of being queued.
        bufferCommands: false,
        ...timeLimits(timeoutMs),
        ...(hasLongStatements ? { socketTimeoutMS: 0 } : {}),
        ...secure,
        // Commands are measured only if somebody listens.
        ...(onClient === undefined ? {} : { monitorCommands: true }),
      })
      .catch((error: unknown) => {
        if (attempt === connectAttempts) throw error
      })
  }
  onClient?.(connection.getClient())
  return {
    collections: declaredModels(connection),
    connection,
    transaction: (work) =>
      connection.withSession((session) => session.withTransaction(() => work(session), transactionOptions)),
    ping: async () => {
      await connection.db?.command({ ping: 1 }, { timeoutMS: 1000 })
    },
    close: () => connection.close(),
  }
}

const transactionOptions = { readConcern: 'snapshot', writeConcern: { w: 'majority', journal: true } } as const

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
function declaredModels(connection: Connection): Collections {
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
