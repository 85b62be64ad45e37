import { cutText } from '../../domain/cut-text.ts'
import type { AuditEntryRecord } from '../../domain/records/audit-entry.ts'
import type { Collections } from '../collections.ts'

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
  const { users, projects, assistants, threads, files } = collections
  const ids = [...new Set(entries.flatMap(({ subjects }) => subjects))]
  const accounts = [...new Set(entries.flatMap(({ user_id: id }) => id ?? []))]
  const own = { _id: { $in: ids }, ...(userId === undefined ? {} : { user_id: userId }) }
  const [emails, ...named] = await Promise.all([
    userId === undefined ? users.find({ _id: { $in: accounts } }, { email: 1 }).lean() : [],
    ...(ids.length === 0
      ? []
      : [
          projects.find(own, { name: 1 }).lean<Named[]>(),
          assistants.find(own, { name: 1 }).lean<Named[]>(),
          threads.find(own, { name: 1 }).lean<Named[]>(),
          files.find(own, { name: 1 }).lean<Named[]>(),
        ]),
  ])
  return Object.fromEntries([
    ...emails.flatMap(({ _id, email }) => (email === undefined ? [] : [[_id, email] as const])),
    ...named.flat().flatMap(({ _id, name }) => (name ? [[_id, cutText(name, nameLength)] as const] : [])),
  ])
}

interface Named {
  _id: string
  name?: string
}
