import type { FastifyReply, FastifyRequest } from 'fastify'

/**
 * Says where a list goes on, in the header `Link` (RFC 8288): lists that are plain arrays have no other
 * place for it. A page may be shorter than its `limit`, because answers are bounded in bytes too.
 */
export function linkNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Record<string, string | number>,
): void {
  const url = new URL(request.url, 'http://localhost')
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  reply.header('link', `<${url.pathname}${url.search}>; rel="next"`)
}
