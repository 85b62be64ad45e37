import type { ProjectRole } from '../../domain/acting.ts'
import { normalizeEmail } from '../../domain/email-address.ts'
import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import { mainProjectName } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { activityPrecisionMs, noteActivity } from '../note-activity.ts'
import { type Shared, roleIn } from '../owner.ts'
import { projectStore } from '../stores/projects.ts'
import { userStore } from '../stores/users.ts'
import { programLoginStore } from './store.ts'
import type { TokenClaims, Tokens } from './tokens.ts'
import { requireUsable } from './usable.ts'

export interface Session {
  user: UserRecord
  projectId: string
  /** The account that holds the project; the user's own unless another shares the project with him. */
  holderId: string
  /** What the user may do in the project. */
  role: ProjectRole
  /** Others use the project too. */
  isShared: boolean
  /** Set if the token is that of a program's login. */
  loginId?: string
  /** When the token ends. */
  expiresAt: Date
}

interface OpenOptions {
  withProject?: boolean | 'if available'
  mayBeDeleting?: boolean
}

export type Sessions = ReturnType<typeof createSessions>

interface SessionsDeps {
  collections: Pick<Collections, 'users' | 'projects' | 'programLogins'>
  tokens: Pick<Tokens, 'verify'>
  threadMaxDefault: number
}

/**
 * From a bearer token to its user, in the order that the contract prescribes: verify, load or create the user,
 * attach the project.
 */
export function createSessions({ collections, tokens, threadMaxDefault }: SessionsDeps) {
  const accounts = userStore(collections)
  const projects = projectStore(collections)
  const logins = programLoginStore(collections)

  return {
    /** Verifies a token whose user may be gone, for the few operations that remain available after a deletion. */
    async claims(token: string): Promise<TokenClaims> {
      const claims = await tokens.verify(token)
      const user = await accounts.findState(claims.user_id)
      requireUsable({ ...user, deleting: false })
      requireOpen(user ?? {}, claims)
      // After a deletion of the account its logins are gone, too.
      if (user !== null) await requireLogin(claims)
      return claims
    },

    /**
     * `withProject` refuses a project that does not exist, is being deleted, or that the caller neither holds nor is a
     * member of; `if available` lets such a caller in as the owner of nothing but his own. User and project are read in
     * parallel, because the token names both; so a role that is taken away ends with this request. `mayBeDeleting` also
     * accepts a user whose account is being deleted.
     */
    async open(token: string, { withProject = false, mayBeDeleting = false }: OpenOptions = {}): Promise<Session> {
      const claims = await tokens.verify(token)
      const [known, project] = await Promise.all([
        accounts.find(claims.user_id),
        withProject === false ? undefined : findProject(claims),
        requireLogin(claims),
      ])
      const user = known ?? (await createUserFromToken(collections, claims, threadMaxDefault))
      requireUsable(mayBeDeleting ? { ...user, deleting: false } : user)
      requireOpen(user, claims)
      await noteActivity(collections.users, user)
      // A user who was created just now has a project that did not exist when it was looked up.
      const found = known === null && withProject !== false ? await findProject(claims) : project
      const role = found && roleIn(found, user)
      const access = found === undefined || role === undefined ? undefined : { ...accessTo(found), role }
      if (withProject === true && access === undefined)
        throw new AppError('forbidden', 'The project of this token is not available.')
      const { project_id: projectId, login_id: loginId, expires_at: expiresAt } = claims
      const own = { holderId: user._id, role: 'owner' as const, isShared: false }
      return { user, projectId, ...own, ...access, expiresAt, ...(loginId !== undefined && { loginId }) }
    },
  }

  async function findProject({ project_id }: TokenClaims): Promise<Shared | undefined> {
    const project = await projects.findSharedOfAny(project_id)
    return project === null || project.deleting ? undefined : project
  }

  /** Refuses the token of a program's login that was ended. */
  async function requireLogin({ login_id: loginId, user_id }: TokenClaims): Promise<void> {
    if (loginId === undefined) return
    const login = await logins.findUse(user_id, loginId)
    if (login === null) throw new AppError('unauthenticated', 'This login was ended. Log in again.')
    const now = new Date()
    const before = new Date(now.getTime() - activityPrecisionMs)
    if (login.last_used_at !== undefined && login.last_used_at > before) return
    await logins.noteUse(user_id, loginId, now, before)
  }
}

/** Refuses a token from before the logout at the identity provider; logins of programs have none. */
function requireOpen({ sessions_ended_at: ended }: Pick<UserRecord, 'sessions_ended_at'>, claims: TokenClaims): void {
  // Tokens count in seconds.
  if (ended === undefined || claims.login_id !== undefined) return
  if (claims.issued_at.getTime() <= ended.getTime())
    throw new AppError('unauthenticated', 'You have logged out at your identity provider. Log in again.')
}

function accessTo({ user_id: holderId, members = [] }: Shared): Pick<Session, 'holderId' | 'isShared'> {
  const isShared = members.some(({ user_id: user, group_id: group }) => user !== undefined || group !== undefined)
  return { holderId, isShared }
}

/**
 * Creates the missing user of a valid token: empty, with a `main` project under the token's project id if that id
 * is free. The token's e-mail address is used only if no account has it. Only exchange tokens contain an address,
 * so such a user is of the kind `userpool`; any other is a password account without a password. The project is
 * created first, so that every user that can be found has one.
 */
async function createUserFromToken(
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
