import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { mainProjectName } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { projectStore } from '../stores/projects.ts'
import { userStore } from '../stores/users.ts'
import type { TokenClaims } from './tokens.ts'

/**
 * Creates the missing user of a valid token: empty, with a `main` project under the token's project id if that id
 * is free. The token's e-mail address is used only if no account has it. Only exchange tokens contain an address,
 * so such a user is of the kind `userpool`; any other is a password account without a password. The project is
 * created first, so that every user that can be found has one.
 */
export async function createUserFromToken(
  collections: Pick<Collections, 'users' | 'projects'>,
  claims: TokenClaims,
  threadMaxDefault: number,
): Promise<UserRecord> {
  const [accounts, projects] = [userStore(collections), projectStore(collections)]
  const now = new Date()
  const project = { user_id: claims.user_id, name: mainProjectName, description: '', created_at: now, updated_at: now }
  await insertFirst(
    () => projects.add({ ...project, _id: claims.project_id }),
    () => projects.add({ ...project, _id: newId() }),
  )
  const user: UserRecord = {
    _id: claims.user_id,
    provider: claims.email === undefined ? 'email' : 'userpool',
    verified: true,
    thread_counter: 0,
    thread_max: threadMaxDefault,
    created_at: now,
    last_active_at: now,
  }
  await insertFirst(
    () => accounts.add(claims.email === undefined ? user : { ...user, email: normalizeEmail(claims.email) }),
    () => accounts.add(user),
  )
  const created = await accounts.find(claims.user_id)
  if (created === null) throw new AppError('unauthenticated', 'The access token is invalid.')
  return created
}

/**
 * Tries the first insert, and the second if a unique key prevented the first; if the second fails too, another
 * request was first.
 */
async function insertFirst(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
  if (!(await isNew(first()))) await isNew(second())
}
