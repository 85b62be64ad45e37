import type { FastifyInstance } from 'fastify'

/** In the scope of a file server: what it refuses because of the path is answered 404, like a missing file. */
export function answerMissingFiles(scope: FastifyInstance): void {
  scope.setErrorHandler((error, _request, reply) => {
    if (!isNoSuchFile(error)) throw error
    reply.callNotFound()
  })
}

/**
 * How the file server refuses invalid paths: 400 and 403 for paths outside the folder, a file system error for long
 * names.
 */
function isNoSuchFile(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('statusCode' in error && typeof error.statusCode === 'number') return error.statusCode < 500
  return 'code' in error && error.code === 'ENAMETOOLONG'
}
