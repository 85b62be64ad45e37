import type { ProjectRole } from '../project-roles.ts'

export interface ProjectRecord {
  _id: string
  /** Whose account holds what belongs to the project. This user is always one of its owners. */
  user_id: string
  /** The others who use it, and those who are invited. Absent: none was ever. */
  members?: MemberRecord[]
  /** Users who do not use it any more, and for whom not all may have been done that follows. */
  leaving?: LeavingRecord[]
  /** Who has left it, for what they have spent in it: the last of them. */
  former_users?: string[]
  /** The account that holds it has changed, and records may still name the one before. */
  moving?: { from: string; at: Date }
  /** Groups that lost their role, and whose members may not have been noted in `leaving` yet. */
  left_groups?: string[]
  name: string
  description: string
  /** What a login returns for the project `main`. */
  default_assistant?: DefaultMember
  default_thread?: DefaultMember
  created_at: Date
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at?: Date
  updated_at: Date
  /** Incremented by each creation beneath this record, so that creations conflict with the deletion marker. */
  holds?: number
  /** The deletion marker: nothing new can be created in the project. */
  deleting?: boolean
  /** What was done beside runs, by day (UTC), such as 2026-11-22. */
  work?: Record<string, Partial<Work>>
  /** A copy of its owner's suspension: nothing new can be created in it. */
  suspended?: boolean
}

/** Somebody who uses a project beside its holder, or is invited to; or a group that does. */
export interface MemberRecord {
  id: string
  /** Absent: invited, and has not accepted; or a group. */
  user_id?: string
  /** All who are in this group have the role. */
  group_id?: string
  role: ProjectRole
  /** As it was invited, in lower case; empty of one who was invited by the id of the account, and of a group. */
  email: string
  /** Absent: accepted. */
  invitation?: InvitationRecord
  created_at: Date
}

/** What becomes of the private threads of somebody who leaves: they stay his, elsewhere, or another gets them. */
export const privateThreadsChoices = ['keep', 'hand_over'] as const
export type PrivateThreads = (typeof privateThreadsChoices)[number]

export interface LeavingRecord {
  user_id: string
  private_threads: PrivateThreads
  /** Who gets his threads of the project, and those that are handed over. */
  to: string
}

/** The link itself is derived, never stored. */
export interface InvitationRecord {
  /** Number of the mail, from 1: only the link of the newest is valid. */
  send: number
  sent_at: Date
  expires_at: Date
  /** The account that was invited by its id. */
  for_user?: string
}

export const memberLimits = { members: 200, former: 1000, invitationDays: 7 } as const

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
export interface DefaultMember {
  id: string
  made: boolean
}

export const mainProjectName = 'main'
