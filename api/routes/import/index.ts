import { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { goneOf } from '../gone.ts'
import { refusals } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'

const Counts = Type.Object(
  {
    projects: Type.Integer(),
    assistants: Type.Integer(),
    vector_stores: Type.Integer(),
    threads: Type.Integer(),
    messages: Type.Integer({ description: 'Entries of threads; each holds the messages that were added together.' }),
    runs: Type.Integer(),
    tool_calls: Type.Integer(),
    feedback: Type.Integer(),
    attachments: Type.Integer({ description: 'Images, sounds and files of messages.' }),
    files: Type.Integer(),
    vector_store_files: Type.Integer(),
    schedules: Type.Integer(),
    sources: Type.Integer(),
    evaluations: Type.Integer(),
    prompts: Type.Integer(),
    memories: Type.Integer(),
    folders: Type.Integer({ description: 'Folders of threads.' }),
    documents: Type.Integer({ description: 'Versions of documents of threads.' }),
  },
  { title: 'ImportCounts', about: 'Numbers of records by kind.' },
)

const ImportReport = Type.Object(
  {
    imported: Counts,
    existing: Counts,
    refused: Counts,
    problems: Type.Array(
      Type.Object({
        kind: Type.String(),
        id: Type.String({ description: 'As the archive has it.' }),
        reason: Type.String(),
      }),
      { description: 'Why records were refused: the first hundred.' },
    ),
    missing_secrets: Type.Array(
      Type.Object({ assistant_id: Type.String(), name: Type.String(), members: Type.Array(Type.String()) }),
      { description: 'Members of configurations whose values the archive does not hold.' },
    ),
    unpublished: Type.Array(Type.String(), {
      description: 'Assistants that public callers could use before. Set their access mode to publish them again.',
    }),
  },
  { title: 'ImportReport', about: 'What an import stored, and what it did not store.' },
)

const Archive = Type.Unsafe<Readable>({
  type: 'string',
  format: 'binary',
  title: 'ImportArchive',
  about: 'The archive of an export.',
  description: 'The gzipped tar archive of an export.',
})

/** The counterpart of `/user/export`. */
export const importRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'imports'>> = async (app, { imports }) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/octet-stream', (_request, payload, done) => done(null, payload))

  app.post(
    '/user/import',
    {
      config: { auth: 'user', isUpload: true, staysOpen: true, limits: ['imports_user'], audit: 'successes' },
      ...streamedBody(app),
      schema: {
        operationId: 'users.import',
        summary: 'Import an archive of an export into the account of the current user; may be repeated',
        tags: ['users'],
        consumes: ['application/octet-stream'],
        body: Archive,
        response: { 200: ImportReport, ...refusals(400, 401, 409, 413, 503) },
      },
    },
    async (request, reply) => {
      const body: unknown = request.body
      if (!(body instanceof Readable)) throw new AppError('bad_request', 'Send the archive as the body.')
      return imports.receive(sessionOf(request).user._id, body, goneOf(reply))
    },
  )
}
