import { AppError } from '../../domain/errors.ts'
import { mainProjectName } from '../../domain/records/project.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import { newId } from '../../domain/ids.ts'
import type { Collections } from '../collections.ts'
import { isDuplicateKey } from '../duplicate-key.ts'
import type { TokenClaims, Tokens } from './tokens.ts'

export interface Session {
  user: UserRecord
  projectId: string
}

export type Sessions = ReturnType<typeof createSessions>

interface SessionsDeps {
  collections: Pick<Collections, 'users' | 'projects'>
  tokens: Pick<Tokens, 'verify'>
  threadMaxDefault: number
}

/** From a bearer token to the user it speaks for, in the contract's order: verify, load or create, attach the project. */
export function createSessions({ collections, tokens, threadMaxDefault }: SessionsDeps) {
  const { users, projects } = collections

  return {
    async open(token: string): Promise<Session> {
      const claims = await tokens.verify(token)
      const user = (await users.findById(claims.user_id).lean<UserRecord>()) ?? (await createFromToken(claims))
      if (user.deleting) throw new AppError('forbidden', 'This account is being deleted.')
      return { user, projectId: claims.project_id }
    },

    /** Refuses a pinned project that is gone, being deleted, or not the caller's. */
    async requireProject(session: Session): Promise<void> {
      const project = await projects.findOne({ _id: session.projectId, user_id: session.user._id }).select({ deleting: 1 }).lean()
      if (project === null || project.deleting) throw new AppError('forbidden', 'The project of this token is not available.')
    },
  }

  /**
   * A token whose user is missing makes the user, with a `main` project under the token's project id
   * when that id is free. Its e-mail is taken only when nobody has it.
   */
  async function createFromToken(claims: TokenClaims): Promise<UserRecord> {
    const now = new Date()
    const email = claims.email?.toLowerCase()
    const user: UserRecord = {
      _id: claims.user_id,
      provider: 'token',
      verified: true,
      thread_counter: 0,
      thread_max: threadMaxDefault,
      created_at: now,
      last_active_at: now,
    }
    const taken = email === undefined || (await users.exists({ email })) !== null
    await insertOnce(() => users.create(taken ? user : { ...user, email }), () => users.create(user))
    const project = { user_id: user._id, name: mainProjectName, description: '', created_at: now, updated_at: now }
    await insertOnce(
      () => projects.create({ ...project, _id: claims.project_id }),
      () => projects.create({ ...project, _id: newId() }),
    )
    const created = await users.findById(claims.user_id).lean<UserRecord>()
    if (created === null) throw new AppError('unauthenticated', 'The access token is not valid.')
    return created
  }
}

/** Runs the first insert, and the second when a unique key stood in the way; a clash there means that another request was first. */
async function insertOnce(first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<void> {
  try {
    await first()
  } catch (error) {
    if (!isDuplicateKey(error)) throw error
    try {
      await second()
    } catch (again) {
      if (!isDuplicateKey(again)) throw again
    }
  }
}

