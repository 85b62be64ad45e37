import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { IngestionView } from '../../../services/knowledge/files.ts'
import { ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { type OpenStreams, openEventStream } from '../../sse/event-stream.ts'
import { watchAccess } from '../../sse/watch-access.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { refusals } from '../schemas.ts'
import { Ingestion, IngestionParams, makerOf, toIngestion } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']

type IngestionRoutesOptions = Pick<Services, 'assistants' | 'files' | 'makers' | 'sessions'> & {
  openStreams: OpenStreams
}

/** `/assistants/{aid}/ingestions`: the progress of uploads, for the owner of the assistant. */
export const ingestionRoutes: FastifyPluginAsyncTypebox<IngestionRoutesOptions> = async (app, options) => {
  const { assistants, files, makers, openStreams } = options
  /** All files of an upload have the same. */
  const makersOf = (request: FastifyRequest, { page }: IngestionView) =>
    makers(page.entries.map(makerOf), [sessionOf(request).user])

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
      return toIngestion(view, await makersOf(request, view))
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
      const known = await makersOf(request, await files.view(assistant._id, ingestionId))
      const stream = openEventStream(reply)
      const stop = new AbortController()
      let goOn = () => {}
      stream.onProgress(() => {
        if (stream.isClosed) stop.abort()
        goOn()
      })
      if (stream.isClosed) stop.abort()
      // Nothing is sent then: whoever comes again is told why.
      let isRefused = false
      const unwatch = watchAccess(request, options, () => {
        isRefused = true
        stop.abort()
        goOn()
      })
      const finished = (async () => {
        for await (const view of files.watch(assistant._id, ingestionId, stop.signal)) {
          stream.send({ name: 'progress', data: JSON.stringify(toIngestion(view, known)) })
          if (!stream.isWritable && !stream.isClosed && !isRefused)
            await new Promise<void>((resolve) => {
              goOn = resolve
            })
        }
        if (!stream.isClosed && !isRefused) stream.send({ name: 'end', data: '' })
      })()
        .catch((error: unknown) => request.log.warn({ err: error }, 'a progress stream ended early'))
        .finally(() => {
          unwatch()
          stream.end()
        })
      openStreams.track(finished, () => stop.abort())
      return reply
    },
  )
}
