import Type, { type Static } from 'typebox'
import { maxCodeFiles, maxVectorStores, requestLimits } from '../limits.ts'
import { type RecordOf, StoredId, StoredTime, archivePart, declareRecord, hidden } from './declared-record.ts'

export const visibilities = ['private', 'project'] as const
export type Visibility = (typeof visibilities)[number]
export const projectAccesses = ['read', 'continue'] as const
export type ProjectAccess = (typeof projectAccesses)[number]

export const threadLimits = { tags: 10, tagLength: 40, sides: 500 } as const

/** What the small model suggests to ask after an answer. */
const FollowUps = Type.Object({
  run_id: StoredId,
  /** The answer. */
  message_id: Type.String({ minLength: 1 }),
  questions: Type.Array(Type.String()),
})
export type FollowUps = Static<typeof FollowUps>

const ContainerFacts = Type.Object({
  /** How long after its last use it goes. */
  minutes: Type.Number(),
  /** As the request said; sessions have the memory that the settings give them. */
  memory_limit: Type.Optional(Type.String()),
  /** What was executed last in it. */
  executed: Type.Optional(Type.String()),
})
type ContainerFacts = Static<typeof ContainerFacts>

const Thread = Type.Object({
  _id: StoredId,
  /** The owner; for a public thread, the owner of its assistant. */
  user_id: StoredId,
  project_id: StoredId,
  /** Who began it, if it was handed over since. Absent: the owner. */
  created_by: Type.Optional(StoredId),
  /** `project`: whoever uses the project sees it. Absent: only its owner does. */
  visibility: Type.Optional(Type.Enum(['project'])),
  /** Of a thread that its project sees: members may continue it. Absent: they may only read it. */
  project_access: Type.Optional(Type.Enum(['continue'])),
  assistant_id: Type.Optional(StoredId),
  /** Absent: any other thread. A conversation of `/v1` is listed and counted like those. */
  kind: Type.Optional(Type.Enum(['conversation'])),
  name: Type.String({ maxLength: requestLimits.nameLength }),
  /** Nobody has given the name: the small model may give another one. */
  provisional_name: Type.Optional(Type.Literal(true)),
  /** Questions that may follow the newest entry of the log; each entry removes those before. */
  follow_ups: Type.Optional(FollowUps),
  metadata_json: Type.String({ minLength: 1 }),
  /** Created by a public caller: the thread belongs to its assistant and does not count against a quota. */
  public: Type.Boolean(),
  /**
   * True: a public thread that came with an archive counts against the quota all the same. False: the thread of a chat
   * completion or a response of a user, which neither counts nor is listed.
   */
  counted: Type.Optional(Type.Boolean()),
  /**
   * Of a thread in which an assistant answers another one, or another model the same question: the threads above it,
   * outermost first. It is not listed, does not count, and is deleted with each of them.
   */
  asked_from: Type.Optional(Type.Array(StoredId, { minItems: 1, maxItems: 10 })),
  /** How many threads were made beside it, in which other models answer. Absent: none. */
  sides: Type.Optional(Type.Integer()),
  /** The assistant whose public thread is the outermost of them: it goes with that assistant. */
  asked_for: Type.Optional(StoredId),
  /** How the last finished run ended; together with open runs it determines the thread's status. */
  last_outcome: Type.Enum(['none', 'success', 'error']),
  /** Shown before the others. */
  pinned: Type.Optional(Type.Boolean()),
  /** Put aside: in the list of those alone. It counts against the quota like the others. */
  archived: Type.Optional(Type.Boolean()),
  /** Absent: none. */
  tags: Type.Optional(Type.Array(Type.String({ maxLength: threadLimits.tagLength }), { maxItems: threadLimits.tags })),
  /** The folder of its owner in which it is. It may be gone. */
  folder_id: Type.Optional(StoredId),
  created_at: StoredTime,
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at: Type.Optional(StoredTime),
  updated_at: StoredTime,
  /** Number of the newest entry of the log; absent while the log is empty. */
  last_seq: Type.Optional(Type.Integer()),
  /**
   * The id of the newest entry of the log, written with `last_seq`. Unlike a number, it does not come back when a thread is
   * deleted and imported again. Absent after an import.
   */
  last_entry_id: Type.Optional(StoredId),
  /** Bytes of the log's messages, replaced ones included; absent while the log is empty. */
  log_bytes: Type.Optional(Type.Integer()),
  /** Whether the log holds system messages, which are never cut from a conversation. */
  has_system: Type.Boolean(),
  /**
   * Messages that were deleted from the log while the thread stayed, by their ids: the log takes none of them again. Read
   * only where it is asked for.
   */
  erased_ids: Type.Optional(Type.Array(Type.String(), hidden)),
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds: Type.Optional(Type.Integer()),
  /** When the retention deletes the thread: one of a completion that is not to be stored, or a temporary one. */
  expires_at: Type.Optional(StoredTime),
  deleting: Type.Optional(Type.Boolean()),
  /** Vector stores that the runs of the thread search beside those of their assistant. */
  vector_stores: Type.Optional(Type.Array(StoredId, { maxItems: maxVectorStores })),
  /** Files of the project that code of its runs can read. */
  code_files: Type.Optional(Type.Array(StoredId, { maxItems: maxCodeFiles })),
  /** Of a container that was made by itself, which has files and no messages: in no list of threads. */
  container: Type.Optional(ContainerFacts),
})

export const threadRecord = declareRecord({
  model: 'Thread',
  collection: 'threads',
  schema: Thread,
  owners: [],
  indexes: [
    // With `deleting` at the end, the list's total can be counted from the index.
    [{ user_id: 1, project_id: 1, public: 1, updated_at: -1, _id: -1, deleting: 1 }],
    [{ user_id: 1, project_id: 1, pinned: 1, updated_at: -1, _id: -1 }, { partialFilterExpression: { pinned: true } }],
    [
      { user_id: 1, project_id: 1, archived: 1, updated_at: -1, _id: -1 },
      { partialFilterExpression: { archived: true } },
    ],
    [{ user_id: 1, project_id: 1, tags: 1 }, { partialFilterExpression: { tags: { $exists: true } } }],
    [{ project_id: 1, visibility: 1, updated_at: -1, _id: -1 }],
    [{ expires_at: 1 }, { sparse: true }],
    [{ updated_at: 1 }, { name: 'public_by_use', partialFilterExpression: { public: true } }],
    [{ assistant_id: 1, public: 1 }],
    [{ asked_from: 1 }, { sparse: true }],
    [{ asked_for: 1 }, { sparse: true }],
    [
      { user_id: 1, project_id: 1, created_at: -1, _id: -1 },
      { name: 'containers', partialFilterExpression: { container: { $exists: true } } },
    ],
  ],
  archive: archivePart(Thread, [
    'project_id',
    'assistant_id',
    'name',
    'kind',
    'public',
    'vector_stores',
    'code_files',
    'asked_from',
    'pinned',
    'archived',
    'folder_id',
    'tags',
    'created_at',
    'updated_at',
  ]),
})
export type ThreadRecord = RecordOf<typeof threadRecord>

/**
 * One entry of a thread's append-only log. The state after it is the fold of all entries up to `seq`: a message
 * with a known id replaces the earlier one in place, others are appended.
 */
const Checkpoint = Type.Object({
  _id: StoredId,
  thread_id: StoredId,
  /** Position in the thread, from 1, without gaps. */
  seq: Type.Integer({ minimum: 1 }),
  /** `Message[]` as JSON text: tool arguments may hold any key. */
  messages_json: Type.String({ minLength: 1 }),
  source: Type.Enum(['input', 'step', 'tools', 'update']),
  run_id: Type.Optional(StoredId),
  /**
   * Number of the entry within its run: together with `run_id` it is unique, so that a repeated commit has no
   * effect.
   */
  step: Type.Optional(Type.Integer({ minimum: -10_000, maximum: 10_000 })),
  /** The model of an answer with tool calls. That of the last answer of a run is in the run's record. */
  model: Type.Optional(Type.String({ maxLength: 200 })),
  created_at: StoredTime,
  /**
   * How it is found by words in its messages. Read only where it is asked for. Absent if nothing can be found, and in
   * threads that are not listed.
   */
  search: Type.Optional(
    Type.Object(
      {
        project_id: StoredId,
        /** Terms, and beginnings of terms behind `*`. */
        words: Type.Array(Type.String()),
        /**
         * Its time in milliseconds, with a fraction from its id: hardly two entries have the same, so that a page can
         * go on where another ended.
         */
        at: Type.Number(),
      },
      hidden,
    ),
  ),
})

export const checkpointRecord = declareRecord({
  model: 'Checkpoint',
  collection: 'checkpoints',
  schema: Checkpoint,
  owners: ['thread_id'],
  indexes: [
    [{ thread_id: 1, seq: 1 }, { unique: true }],
    // Sharded collections need the shard key in front of each unique index.
    [
      { thread_id: 1, run_id: 1, step: 1 },
      { unique: true, partialFilterExpression: { run_id: { $exists: true } } },
    ],
    [
      { 'search.project_id': 1, 'search.words': 1, 'search.at': -1 },
      { name: 'words', partialFilterExpression: { 'search.project_id': { $exists: true } } },
    ],
  ],
  archive: archivePart(Checkpoint, ['thread_id', 'seq', 'source', 'run_id', 'step', 'model', 'created_at']),
})
export type CheckpointRecord = RecordOf<typeof checkpointRecord>
export type MessageTerms = NonNullable<CheckpointRecord['search']>
