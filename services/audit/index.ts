import { createHash } from 'node:crypto'
import { cutText } from '../../domain/cut-text.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { newId } from '../../domain/ids.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { AuditEntryRecord } from '../../domain/records/audit-entry.ts'
import type { Collections } from '../collections.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { projectStore } from '../stores/projects.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'
import { auditStore } from './store.ts'

export type AuditedAct = Pick<AuditEntryRecord, 'actor' | 'action' | 'outcome' | 'subjects'> & {
  userId?: string | undefined
  projectId?: string | undefined
  client?: string | undefined
  userAgent?: string | undefined
}

interface AuditDeps {
  collections: Pick<Collections, 'auditEntries' | 'users' | 'projects' | 'assistants' | 'threads' | 'files'>
  keepDays: number
  /** Maximum number of entries of one user; the oldest are removed first. */
  maxOfUser?: number
}

const minuteMs = 60_000
/**
 * Identical actions within this time become one entry. The time is longer for refused ones, because anybody can
 * cause many of them.
 */
const together = { done: minuteMs, refused: 60 * minuteMs }
const userAgentLength = 200
/** Surplus entries of a user are removed once in this many new entries. */
const trimEvery = 50

export type Audit = ReturnType<typeof createAudit>

/** Who did what, when and from where. */
export function createAudit({ collections, keepDays, maxOfUser = 10_000 }: AuditDeps) {
  const store = auditStore(collections)
  const users = userStore(collections)
  let written = 0

  return {
    async record({ userId, projectId, client, userAgent, ...act }: AuditedAct): Promise<void> {
      const now = new Date()
      const agent = cleanText(userAgent)
      const period = Math.floor(now.getTime() / together[act.outcome])
      const ofProject = projectId === undefined ? [] : [projectId]
      const parts = [act.actor, act.action, act.outcome, userId, client, agent, period, ...ofProject, ...act.subjects]
      const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
      const entry: AuditEntryRecord = {
        _id: newId(),
        key,
        ...act,
        ...(userId === undefined ? {} : { user_id: userId }),
        ...(projectId === undefined ? {} : { project_id: projectId }),
        ...(client === undefined ? {} : { client }),
        ...(agent === undefined ? {} : { user_agent: agent }),
        count: 1,
        created_at: now,
        last_at: now,
        remove_at: new Date(now.getTime() + keepDays * 24 * 60 * minuteMs),
      }
      if (!(await store.addOrCount(entry)) || userId === undefined) return
      // Stored first, checked afterwards: a deletion that begins later finds the entry.
      if (!(await users.isPresent(userId))) await store.remove(entry)
      else if (++written % trimEvery === 0) await store.trimOwned(userId, maxOfUser)
    },

    /** The account with this e-mail address, for which a refused login is recorded. */
    userOf: (email: string): Promise<string | undefined> => users.idOfAddress(normalizeEmail(email)),

    /** Names by id of what the entries are about; with `userId`, only what belongs to this user. */
    namesOf: (entries: AuditEntryRecord[], userId?: string) => namesOf(collections, entries, userId),

    /** For those who use a project: without what only some of them may read. */
    namesInProject: (entries: AuditEntryRecord[], project: { projectId: string; holderId: string }) =>
      namesInProject(collections, entries, project),

    /** Newest first; for one user, for what was done in a project, or for all. */
    list: store.list,
  }
}

/** The `User-Agent` of a client, without control characters and shortened. */
function cleanText(text: string | undefined): string | undefined {
  return text?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, userAgentLength)
}

type NamedCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads' | 'files'>

/** Longer names are cut: a page has hundreds of them. */
const nameLength = 80

/**
 * Names by id, of the accounts, projects, assistants, chats and files of these entries that still exist. With `userId`
 * only those of this user: an id in a path may be anybody's.
 */
async function namesOf(
  collections: NamedCollections,
  entries: AuditEntryRecord[],
  userId: string | undefined,
): Promise<Record<string, string>> {
  const ids = [...new Set(entries.flatMap(({ subjects }) => subjects))]
  const accounts = [...new Set(entries.flatMap(({ user_id: id }) => id ?? []))]
  const [emails, ...named] = await Promise.all([
    userId === undefined ? userStore(collections).addressesOfAny(accounts) : [],
    ...(ids.length === 0
      ? []
      : [
          projectStore(collections).namesOf(ids, userId),
          assistantStore(collections).namesOf(ids, userId),
          threadStore(collections).namesOf(ids, userId),
          fileStore(collections).namesOf(ids, userId),
        ]),
  ])
  return Object.fromEntries([
    ...emails.flatMap(({ _id, email }) => (email === undefined ? [] : [[_id, email] as const])),
    ...named.flat().flatMap(({ _id, name }) => (name ? [[_id, cutText(name, nameLength)] as const] : [])),
  ])
}

/** Names by id, of what belongs to a project: not of the private threads of its members. */
async function namesInProject(
  collections: NamedCollections,
  entries: AuditEntryRecord[],
  { projectId, holderId }: { projectId: string; holderId: string },
): Promise<Record<string, string>> {
  const ids = [...new Set(entries.flatMap(({ subjects }) => subjects))]
  if (ids.length === 0) return {}
  const assistants = assistantStore(collections)
  const owners = [...(await assistants.idsInProject(projectId)), projectOwner(projectId)]
  const found = await Promise.all([
    assistants.namesInProject(projectId, ids),
    threadStore(collections).namesSeenIn(projectId, ids),
    fileStore(collections).namesOwned(holderId, owners, ids),
  ])
  return Object.fromEntries(
    found.flat().flatMap(({ _id, name }) => (name ? [[_id, cutText(name, nameLength)] as const] : [])),
  )
}
