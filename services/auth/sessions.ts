import { AppError } from '../../domain/errors.ts'
import type { UserRecord } from '../../domain/records/user.ts'
import type { Collections } from '../collections.ts'
import { createUserFromToken } from './user-from-token.ts'
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

/** `last_active_at` is this exact: one write in a while, not one a request. */
const activityPrecisionMs = 5 * 60 * 1000

/** From a bearer token to the user it speaks for, in the contract's order: verify, load or create, attach the project. */
export function createSessions({ collections, tokens, threadMaxDefault }: SessionsDeps) {
  const { users, projects } = collections

  return {
    /** What a token says, for the few answers that outlive its user. */
    claims: (token: string): Promise<TokenClaims> => tokens.verify(token),

    async open(token: string): Promise<Session> {
      const claims = await tokens.verify(token)
      const known = await users.findById(claims.user_id).lean<UserRecord>()
      const user = known ?? (await createUserFromToken(collections, claims, threadMaxDefault))
      if (user.deleting) throw new AppError('forbidden', 'This account is being deleted.')
      await noteActivity(user)
      return { user, projectId: claims.project_id }
    },

    /** Refuses a pinned project that is gone, being deleted, or not the caller's. */
    async requireProject(session: Session): Promise<void> {
      const project = await projects
        .findOne({ _id: session.projectId, user_id: session.user._id })
        .select({ deleting: 1 })
        .lean()
      if (project === null || project.deleting)
        throw new AppError('forbidden', 'The project of this token is not available.')
    },
  }

  async function noteActivity(user: UserRecord): Promise<void> {
    const now = new Date()
    const before = new Date(now.getTime() - activityPrecisionMs)
    if (user.last_active_at > before) return
    await users.updateOne({ _id: user._id, last_active_at: { $lte: before } }, { $set: { last_active_at: now } })
  }
}
