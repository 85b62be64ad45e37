import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { openEventStream } from '../../sse/event-stream.ts'
import type { OpenStreams } from '../../sse/open-streams.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { refusals } from '../schemas.ts'
import { Ingestion, IngestionParams, showIngestion } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']

type IngestionRoutesOptions = Pick<Services, 'assistants' | 'files'> & { openStreams: OpenStreams }

/** `/assistants/{aid}/ingestions`: the progress of uploads, for the owner of the assistant. */
export const ingestionRoutes: FastifyPluginAsyncTypebox<IngestionRoutesOptions> = async (app, options) => {
  const { assistants, files, openStreams } = options

  app.get(
    '/assistants/:aid/ingestions/:ingestion_id',
    {
      config,
      schema: {
        operationId: 'files.ingestion',
        summary: 'The progress of an upload, with its files in order; the header Link names the next page',
        tags,
        params: IngestionParams,
        querystring: ListPage,
        response: { 200: Ingestion, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const view = await files.view(assistant._id, request.params.ingestion_id, request.query)
      linkNextPart(request, reply, view.page)
      return showIngestion(view)
    },
  )

  app.get(
    '/assistants/:aid/ingestions/:ingestion_id/events',
    {
      config: { ...config, staysOpen: true },
      schema: {
        operationId: 'files.ingestionEvents',
        summary: 'The progress of an upload as server-sent events: `progress` whenever something changes, then `end`',
        tags,
        params: IngestionParams,
        response: {
          200: {
            description: 'Server-sent events: progress…, then end.',
            content: { 'text/event-stream': { schema: Type.String() } },
          },
          ...refusals(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const { ingestion_id: ingestionId } = request.params
      await files.view(assistant._id, ingestionId)
      const stream = openEventStream(reply)
      const stop = new AbortController()
      let goOn = () => {}
      stream.onProgress(() => {
        if (stream.isClosed) stop.abort()
        goOn()
      })
      if (stream.isClosed) stop.abort()
      const finished = (async () => {
        for await (const view of files.watch(assistant._id, ingestionId, stop.signal)) {
          stream.send({ name: 'progress', data: JSON.stringify(showIngestion(view)) })
          if (!stream.isWritable && !stream.isClosed)
            await new Promise<void>((resolve) => {
              goOn = resolve
            })
        }
        if (!stream.isClosed) stream.send({ name: 'end', data: '' })
      })()
        .catch((error: unknown) => request.log.warn({ err: error }, 'a progress stream ended early'))
        .finally(() => stream.end())
      openStreams.track(finished, () => stop.abort())
      return reply
    },
  )
}
