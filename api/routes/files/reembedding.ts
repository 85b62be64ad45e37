import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type ReembeddingView, reembeddingStatuses } from '../../../services/knowledge/to-reembedding.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { Timestamp, refusals } from '../schemas.ts'
import { FilesParams } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']

const Reembedding = Type.Object(
  {
    status: Type.Enum([...reembeddingStatuses], {
      description:
        '`current`: nothing is to be done. `outdated`: files were embedded with another model than the server uses now, or vectors are missing. `failed`: given up because of `error`; a further POST continues.',
    }),
    model: Type.Optional(Type.String({ description: 'The model of the vectors that are searched.' })),
    configured_model: Type.String({ description: 'The model that the server uses now.' }),
    files: Type.Integer({ description: 'Ready files with text.' }),
    files_done: Type.Integer(),
    chunks: Type.Integer(),
    chunks_done: Type.Integer({ description: 'Chunks with vectors of the configured model.' }),
    started_at: Type.Optional(Timestamp),
    error: Type.Optional(Type.String()),
  },
  {
    title: 'Reembedding',
    about: 'Whether the files have vectors of the current embedding model, and how far a change of it has come.',
  },
)

/** `/assistants/{aid}/reembedding`: embeds the files anew after a change of the embedding model. Only for the owner. */
export const reembeddingRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'reembedding'>> = async (
  app,
  { assistants, reembedding },
) => {
  app.get(
    '/assistants/:aid/reembedding',
    {
      config,
      schema: {
        operationId: 'files.reembedding',
        summary: 'Whether the files are embedded with the current model, and the progress of embedding them anew',
        tags,
        params: FilesParams,
        response: { 200: Reembedding, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      return shown(await reembedding.view(assistant._id))
    },
  )

  app.post(
    '/assistants/:aid/reembedding',
    {
      config,
      schema: {
        operationId: 'files.reembed',
        summary: 'Embed the files anew with the current model',
        description:
          'Answers at once with the progress. The request can be repeated: it has no effect while it runs or if nothing is to be done, and continues what was given up.',
        tags,
        params: FilesParams,
        response: { 202: Reembedding, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const view = await reembedding.start(assistant._id)
      return reply.status(202).send(shown(view))
    },
  )
}

function shown({ started_at: startedAt, ...view }: ReembeddingView): Static<typeof Reembedding> {
  return { ...view, ...(startedAt === undefined ? {} : { started_at: startedAt.toISOString() }) }
}
