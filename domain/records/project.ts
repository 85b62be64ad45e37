import Type, { type Static } from 'typebox'
import { projectRoles } from '../acting.ts'
import { requestLimits } from '../limits.ts'
import { type RecordOf, StoredId, StoredTime, archivePart, declareRecord, mixedOf } from './declared-record.ts'

/** The link itself is derived, never stored. */
const Invitation = Type.Object({
  /** Number of the mail, from 1: only the link of the newest is valid. */
  send: Type.Integer(),
  sent_at: StoredTime,
  expires_at: StoredTime,
  /** The account that was invited by its id. */
  for_user: Type.Optional(StoredId),
})

/** Somebody who uses a project beside its holder, or is invited to; or a group that does. */
const Member = Type.Object({
  id: StoredId,
  /** Absent: invited, and has not accepted; or a group. */
  user_id: Type.Optional(StoredId),
  /** All who are in this group have the role. */
  group_id: Type.Optional(StoredId),
  role: Type.Enum(projectRoles),
  /** As it was invited, in lower case; empty of one who was invited by the id of the account, and of a group. */
  email: Type.String(),
  /** Absent: accepted. */
  invitation: Type.Optional(Invitation),
  created_at: StoredTime,
})
export type MemberRecord = Static<typeof Member>

/** What becomes of the private threads of somebody who leaves: they stay his, elsewhere, or another gets them. */
export const privateThreadsChoices = ['keep', 'hand_over'] as const
export type PrivateThreads = (typeof privateThreadsChoices)[number]

const Leaving = Type.Object({
  user_id: StoredId,
  private_threads: Type.Enum(privateThreadsChoices),
  /** Who gets his threads of the project, and those that are handed over. */
  to: StoredId,
})
export type LeavingRecord = Static<typeof Leaving>

/** What is done for a project on one day, besides asking models. */
export interface Work {
  embedding_tokens: number
  /** Processor time for reading pictures. */
  recognition_seconds: number
  crawled_pages: number
  /** In which code of models was executed. */
  code_seconds: number
  /** Of speech that was written down. */
  transcription_seconds: number
  /** That were read aloud. */
  speech_characters: number
}

/** The id is reserved before the record is created. Any process that finds `made` false may create the record. */
const DefaultMember = Type.Object({ id: StoredId, made: Type.Boolean() })
export type DefaultMember = Static<typeof DefaultMember>

const Project = Type.Object({
  _id: StoredId,
  /** Whose account holds what belongs to the project. This user is always one of its owners. */
  user_id: StoredId,
  /** The others who use it, and those who are invited. Absent: none was ever. */
  members: Type.Optional(Type.Array(Member)),
  /** Users who do not use it any more, and for whom not all may have been done that follows. */
  leaving: Type.Optional(Type.Array(Leaving)),
  /** Who has left it, for what they have spent in it: the last of them. */
  former_users: Type.Optional(Type.Array(StoredId)),
  /** The account that holds it has changed, and records may still name the one before. */
  moving: Type.Optional(Type.Object({ from: StoredId, at: StoredTime })),
  /** Groups that lost their role, and whose members may not have been noted in `leaving` yet. */
  left_groups: Type.Optional(Type.Array(StoredId)),
  name: Type.String({ minLength: 1 }),
  description: Type.String({ maxLength: requestLimits.textLength }),
  /** What a login returns for the project `main`. */
  default_assistant: Type.Optional(DefaultMember),
  default_thread: Type.Optional(DefaultMember),
  created_at: StoredTime,
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at: Type.Optional(StoredTime),
  updated_at: StoredTime,
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds: Type.Optional(Type.Integer()),
  /** The deletion marker: nothing new can be created in the project. */
  deleting: Type.Optional(Type.Boolean()),
  /** What was done beside runs, by day (UTC), such as 2026-11-22. */
  work: Type.Optional(mixedOf<Record<string, Partial<Work>>>()),
  /** A copy of its owner's suspension: nothing new can be created in it. */
  suspended: Type.Optional(Type.Boolean()),
})

export const projectRecord = declareRecord({
  model: 'Project',
  collection: 'projects',
  schema: Project,
  owners: [],
  indexes: [
    [{ user_id: 1, name: 1 }, { unique: true }],
    [{ user_id: 1, created_at: 1, _id: 1 }],
    [{ 'members.user_id': 1 }],
    [{ 'members.group_id': 1 }],
    [{ 'members.id': 1 }],
    [{ 'members.email': 1 }],
    [{ 'members.invitation.for_user': 1 }],
    [{ former_users: 1 }, { sparse: true }],
    [{ 'leaving.user_id': 1 }, { partialFilterExpression: { leaving: { $exists: true } } }],
    [{ 'moving.from': 1 }, { partialFilterExpression: { moving: { $exists: true } } }],
    [{ left_groups: 1 }, { partialFilterExpression: { left_groups: { $exists: true } } }],
  ],
  archive: archivePart(Project, ['description', 'created_at']),
})
export type ProjectRecord = RecordOf<typeof projectRecord>

export const memberLimits = { members: 200, former: 1000, invitationDays: 7 } as const

export const mainProjectName = 'main'
