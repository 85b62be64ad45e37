import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { goneOf } from '../gone.ts'
import { refusals } from '../schemas.ts'

const ExportLink = Type.Object(
  {
    url: Type.String({ description: 'A gzipped tar archive. Everybody who has the link can download it.' }),
    expires_at: Type.String({ format: 'date-time' }),
  },
  { title: 'ExportLink', about: 'A link to an archive of all data of a user.' },
)

/** All data of a user as an archive. */
export const exportRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'exports'>> = async (app, { exports }) => {
  app.post(
    '/user/export',
    {
      config: { auth: 'user', audit: 'successes' },
      schema: {
        operationId: 'users.export',
        summary: 'A link to an archive of all data of the current user, valid for a day',
        tags: ['users'],
        response: { 200: ExportLink },
      },
    },
    (request) => exports.linkFor(sessionOf(request).user._id),
  )

  app.get(
    '/user/export/archive',
    {
      config: { auth: 'none', staysOpen: true, limits: ['accounts_client'], audit: 'successes', isLink: true },
      schema: {
        operationId: 'users.exportArchive',
        summary: 'The archive of a link: JSON Lines and the original files',
        tags: ['users'],
        querystring: Type.Object({
          user_id: Type.String({ maxLength: 200 }),
          expires: Type.Integer({ minimum: 0 }),
          signature: Type.String({ maxLength: 100 }),
        }),
        response: {
          200: {
            description: 'A gzipped tar archive.',
            content: {
              'application/octet-stream': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
            },
          },
          ...refusals(403, 404),
        },
      },
    },
    async (request, reply) => {
      const { user_id: userId, expires, signature } = request.query
      const archive = await exports.open({ userId, expires, signature }, goneOf(reply))
      return reply
        .header('content-disposition', 'attachment; filename="export.tar.gz"')
        .type('application/octet-stream')
        .send(archive)
    },
  )
}
