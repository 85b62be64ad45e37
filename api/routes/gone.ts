import type { FastifyReply } from 'fastify'

/**
 * Aborted when the client disconnects before it has its answer. Not `request.signal`, which is aborted as soon as the
 * body of the request was read.
 */
export function goneOf({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  if (raw.destroyed) gone.abort()
  raw.once('close', () => gone.abort())
  return gone.signal
}
