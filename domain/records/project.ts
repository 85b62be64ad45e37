import type { ProjectRole } from '../project-roles.ts'

export interface ProjectRecord {
  _id: string
  /** Whose account holds what belongs to the project. This user is always one of its owners. */
  user_id: string
  /** The others who use it, and those who are invited. Absent: none was ever. */
  members?: MemberRecord[]
  /** Users who do not use it any more, and whose runs and schedules in it may not have been ended yet. */
  leaving?: string[]
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

/** Somebody who uses a project beside its holder, or is invited to. */
export interface MemberRecord {
  id: string
  /** Absent: invited, and has not accepted. */
  user_id?: string
  role: ProjectRole
  /** As it was invited, in lower case; empty of one who was invited by the id of the account. */
  email: string
  /** Absent: accepted. */
  invitation?: InvitationRecord
  created_at: Date
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

export const memberLimits = { members: 200, invitationDays: 7 } as const

/** What is done for a project on one day, besides asking models. */
export interface Work {
  embedding_tokens: number
  /** Processor time for reading pictures. */
  recognition_seconds: number
  crawled_pages: number
  /** In which code of models was executed. */
  code_seconds: number
}

/** The id is reserved before the record is created. Any process that finds `made` false may create the record. */
export interface DefaultMember {
  id: string
  made: boolean
}

export const mainProjectName = 'main'
