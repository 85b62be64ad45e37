import Type, {
  type Static,
  type TObject,
  type TOptional,
  type TProperties,
  type TSchema,
  type TString,
  type TUnion,
  type TUnsafe,
} from 'typebox'

/** A time, as the database returns it. In an archive it is a text. */
export const StoredTime = Type.Unsafe<Date>({ bson: 'date' })

/** The driver answers with a `Binary`, which has its bytes in `buffer`. */
export const StoredBytes = Type.Unsafe<Buffer>({ bson: 'bytes' })

/** A text that is one of many, or of a pattern, which only its type says. */
export const textOf = <T extends string>() => Type.Unsafe<T>({ bson: 'text' })

/** Numbers and flags, or what has any members. */
export const mixedOf = <T>() => Type.Unsafe<T>({ bson: 'mixed' })

/** Only what asks for it reads this member. */
export const hidden = { hidden: true } as const

/** The id of a record. */
export const StoredId = Type.String({ minLength: 1, maxLength: 128 })

/** Members by which records name their owners: with any of these, a record goes. */
export type OwnerField = 'user_id' | 'project_id' | 'assistant_id' | 'thread_id'

/** One index: its members in order, and its options. */
type StoredIndex = [
  members: Record<string, 1 | -1>,
  options?: {
    name?: string
    unique?: boolean
    sparse?: boolean
    partialFilterExpression?: object
    expireAfterSeconds?: number
  },
]

/** Records of several forms have the members of all; a member that a form lacks may be absent. */
export type StoredSchema = TObject | TUnion<TObject[]>

/**
 * All that is known of a kind of record: from it follow the type, the model with its indexes (`infra/mongo`), what
 * deletions and the sweep of orphans remove (`services/owned-data`), and its line in an archive with the check of that line.
 */
export interface DeclaredRecord<S extends StoredSchema = StoredSchema, A extends Archive = Archive> {
  /** The name of the model, and of the collection. */
  model: string
  collection: string
  schema: S
  /** Empty: `services/deletion/stores.ts` says what becomes of it. */
  owners: readonly OwnerField[]
  /**
   * Which of its members name records without which the sweep of orphans removes it, by the code's names of their
   * collections. Absent: all owners.
   */
  orphanedBy?: Record<string, 'users' | 'projects' | 'assistants' | 'threads' | 'sources'>
  /** Deletions find other data by these records. */
  removedLast?: true
  indexes: readonly StoredIndex[]
  /** Absent: it is in no archive of a user. */
  archive: A
}

type Archive = ArchiveLine | ArchivePart | undefined

/** A kind of record. */
export function declareRecord<S extends StoredSchema, A extends Archive>(
  declared: DeclaredRecord<S, A>,
): DeclaredRecord<S, A> {
  return declared
}

/** How records of a kind are written in an archive, and what an archive may bring. */
export interface ArchiveLine<S extends TObject = TObject> {
  schema: S
  /** The member that names the record. */
  id: string
  members: readonly string[]
  /** Which records of a user are exported; all, if absent. */
  only?: object
  /** How many are read at once, if they are large. */
  recordsAtOnce?: number
}

/** A member as an archive has it. */
type Archived<P extends TSchema> = P extends TUnsafe<Date> ? (P extends TOptional ? TOptional<TString> : TString) : P

const time = Type.String({ pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$`, maxLength: 40 })

/** Those of its members that an archive has as the record has them; `domain/archive/records.ts` has the rest of its line. */
interface ArchivePart<P extends TProperties = TProperties> {
  part: P
  members: readonly string[]
}

export function archivePart<S extends TObject, M extends string & keyof S['properties']>(
  schema: S,
  members: readonly M[],
): ArchivePart<{ [K in M]: Archived<S['properties'][K]> }> {
  const part = Object.fromEntries(
    members.map((name) => {
      const member: TSchema = schema.properties[name] ?? Type.Never()
      if (!('bson' in member && member.bson === 'date')) return [name, member]
      return [name, Type.IsOptional(member) ? Type.Optional(time) : time]
    }),
  )
  return { part: part as never, members }
}

/** The line of an archive with the id of a record as `id`, and these of its members. */
export function archiveLine<S extends TObject, Id extends string, M extends string & keyof S['properties']>(
  schema: S,
  { id, members, ...rest }: { id: Id; members: readonly M[]; only?: object; recordsAtOnce?: number },
): ArchiveLine<TObject<{ [K in M]: Archived<S['properties'][K]> } & { [K in Id]: TString }>> {
  const line: TObject = Type.Object({ [id]: StoredId, ...archivePart(schema, members).part })
  return { schema: line as never, id, members, ...rest }
}

/** A record as its line in an archive. */
export function toArchiveLine({ id, members }: ArchiveLine, record: { _id: string }): object {
  return { [id]: record._id, ...toArchivePart({ members }, record) }
}

export function toArchivePart({ members }: Pick<ArchivePart, 'members'>, record: object): object {
  const values = new Map(Object.entries(record))
  return Object.fromEntries(members.map((name) => [name, values.get(name)]))
}

/** The type of a record of this kind. */
export type RecordOf<D extends DeclaredRecord> = Static<D['schema']>
