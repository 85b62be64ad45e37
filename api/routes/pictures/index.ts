import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { refusals } from '../schemas.ts'

const bytes = { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) }
/** `/user/picture`: what the console shows of the pictures that answers name. */
export const pictureRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'pictures'>> = async (app, { pictures }) => {
  app.get(
    '/user/picture',
    {
      config: { auth: 'user', limits: ['runs_user'] },
      schema: {
        operationId: 'users.picture',
        summary: 'A picture of another site',
        description:
          'Read by the service, so that the other server does not learn who looks at it. PNG, JPEG, GIF or WebP of at ' +
          'most 8 MiB; private addresses are refused.',
        tags: ['users'],
        querystring: Type.Object(
          { url: Type.String({ minLength: 1, maxLength: 4096 }) },
          { additionalProperties: false },
        ),
        response: {
          200: { description: 'The bytes.', content: { 'application/octet-stream': bytes } },
          ...refusals(401),
        },
      },
    },
    async (request, reply) => {
      const { bytes: picture } = await pictures.read(sessionOf(request).user._id, request.query.url)
      return reply
        .header('content-disposition', 'attachment')
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .type('application/octet-stream')
        .send(picture)
    },
  )
}
