import { cutText } from '../../domain/cut-text.ts'
import { projectOwner } from '../../domain/knowledge/project-files.ts'
import type { AuditEntryRecord } from '../../domain/records/audit-entry.ts'
import type { Collections } from '../collections.ts'
import { assistantStore } from '../stores/assistants.ts'
import { fileStore } from '../stores/files.ts'
import { projectStore } from '../stores/projects.ts'
import { threadStore } from '../stores/threads.ts'
import { userStore } from '../stores/users.ts'

type NamedCollections = Pick<Collections, 'users' | 'projects' | 'assistants' | 'threads' | 'files'>

/** Longer names are cut: a page has hundreds of them. */
const nameLength = 80

/**
 * Names by id, of the accounts, projects, assistants, chats and files of these entries that still exist. With `userId`
 * only those of this user: an id in a path may be anybody's.
 */
export async function namesOf(
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
export async function namesInProject(
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
