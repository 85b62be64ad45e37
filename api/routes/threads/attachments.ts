import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { PathId, refusals } from '../schemas.ts'

const bytes = { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) }

/** What the bytes of a part of a message can be: `services/attachments/content-type.ts`. */
const contentTypes = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'audio/wav',
  'audio/mpeg',
  'application/pdf',
  'text/plain',
  'application/octet-stream',
]

/** The images, sounds and files of a thread's messages. */
export const threadAttachmentRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads'>> = async (
  app,
  { threads },
) => {
  app.get(
    '/threads/:tid/attachments/:attachment_id/content',
    {
      config: { auth: 'project' },
      schema: {
        operationId: 'threads.attachments.content',
        summary: 'The bytes of an image, a sound or a file in a message',
        description: 'The message names it in `parts`, as `attachment_id`. At most 8 MiB.',
        tags: ['threads'],
        params: Type.Object({ tid: PathId, attachment_id: PathId }),
        response: {
          200: {
            description: 'The bytes.',
            content: Object.fromEntries(contentTypes.map((type) => [type, bytes])),
          },
          ...refusals(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const { tid, attachment_id: id } = request.params
      const found = await threads.attachment(callerOf(request), tid, id)
      // The type is what the bytes are, but a text can be read as a page: no browser may take it for one of this site.
      return reply
        .header('content-disposition', dispositionOf(found.name))
        .header('x-content-type-options', 'nosniff')
        .header('content-security-policy', "default-src 'none'; sandbox")
        .type(found.contentType)
        .send(found.bytes)
    },
  )
}

/** The name that the sender gave, in the form of RFC 8187: it can hold anything. */
function dispositionOf(name: string): string {
  if (name === '') return 'attachment'
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename*=UTF-8''${encoded}`
}
