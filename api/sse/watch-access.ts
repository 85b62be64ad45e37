import type { FastifyRequest } from 'fastify'
import type { Services } from '../../composition/platform.ts'
import { isEnough } from '../../domain/acting.ts'
import { AppError } from '../../domain/errors.ts'
import { sessionOf } from '../plugins/authentication.ts'
import { bearerOf } from '../plugins/bearer-token.ts'

const everyMs = 10_000

/**
 * Calls `stop` when the caller may not read any more what he follows: he was removed from the project that is shared
 * with him, or his token has ended. Asked every few seconds, but not for a project that nobody else uses: one that is
 * shared may be given to another, who then removes him. Returns what ends the watch.
 */
export function watchAccess(
  request: FastifyRequest,
  { sessions }: Pick<Services, 'sessions'>,
  stop: () => void,
): () => void {
  const { user, holderId, projectId, isShared } = sessionOf(request)
  if (holderId === user._id && !isShared) return () => {}
  const token = bearerOf(request) ?? ''
  const { role: needed = 'viewer' } = request.routeOptions.config

  async function check(): Promise<void> {
    try {
      const now = await sessions.open(token, { withProject: true })
      if (now.projectId === projectId && needed !== 'holder' && isEnough(now.role, needed)) return
    } catch (error) {
      // The database may be away for a moment.
      if (!isRefusal(error)) return
    }
    clearInterval(timer)
    stop()
  }

  const timer = setInterval(() => void check(), everyMs)
  return () => clearInterval(timer)
}

function isRefusal(error: unknown): boolean {
  return error instanceof AppError && error.status < 500
}
