import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Page, PageRange } from '../../services/page.ts'

const offset = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1, default: 0 })

/** For lists of which callers usually want all entries. */
export const ListPage = Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 1000, default: 1000 }), offset })

/** For lists of which callers usually want the newest entries. */
export const NewestPage = Type.Object({ limit: Type.Integer({ minimum: 1, maximum: 1000, default: 20 }), offset })

/**
 * Says where a list continues, in the header `Link` (RFC 8288), because lists are plain arrays. A page may be
 * shorter than its `limit`, because answers are also limited in bytes.
 */
export function linkNextPage(
  request: FastifyRequest,
  reply: FastifyReply,
  query: Record<string, string | number>,
  path: string = request.url,
): void {
  const url = new URL(path, 'http://localhost')
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value))
  reply.header('link', `<${url.pathname}${url.search}>; rel="next"`)
}

/** The same for a list with `limit` and `offset`. */
export function linkNextPart(
  request: FastifyRequest<{ Querystring: PageRange }>,
  reply: FastifyReply,
  { entries, hasMore }: Page<unknown>,
): void {
  if (hasMore) linkNextPage(request, reply, { offset: request.query.offset + entries.length })
}
