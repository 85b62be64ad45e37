import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { FileRecord } from '../../../domain/records/file.ts'
import { firstFiles } from '../../../services/knowledge/files.ts'
import { type Page, firstPage } from '../../../services/page.ts'
import { holderOf, ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { answerIsFollowed, once } from '../../plugins/idempotency.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { ListPage, linkNextPage, linkNextPart } from '../paging.ts'
import { refusals } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'
import { filePartsOf } from './parts.ts'
import {
  FileDeleted,
  FileList,
  FileParams,
  FilesParams,
  RetryResponse,
  UploadBody,
  UploadQuery,
  UploadResponse,
  makerOf,
  toFileAnswer,
} from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']

type FileRoutesOptions = Pick<Services, 'assistants' | 'uploads' | 'retries' | 'files' | 'makers'> & {
  openStreams: OpenStreams
}

/** `/assistants/{aid}/files`: the knowledge of an assistant. Only for its owner, even if the assistant is public. */
export const fileRoutes: FastifyPluginAsyncTypebox<FileRoutesOptions> = async (app, options) => {
  await app.register(multipart)
  await app.register(listRoutes, options)
  await app.register(uploadRoutes, options)
  await app.register(contentRoutes, options)
  await app.register(oneFileRoutes, options)
}

/** As a member of the project sees them, with who uploaded each. */
const createToFile =
  ({ makers }: Pick<Services, 'makers'>) =>
  async (request: FastifyRequest, files: FileRecord[]) => {
    const known = await makers(files.map(makerOf), [sessionOf(request).user])
    return files.map((file) => toFileAnswer(file, known))
  }

const listRoutes: FastifyPluginAsyncTypebox<FileRoutesOptions> = async (app, { assistants, files, makers }) => {
  const toAnswer = createToFile({ makers })

  app.get(
    '/assistants/:aid/files',
    {
      config,
      schema: {
        operationId: 'files.list',
        summary: "The assistant's files, oldest first, with the progress of each; the header Link names the next page",
        tags,
        params: FilesParams,
        querystring: ListPage,
        response: { 200: FileList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const page = await files.list(assistant._id, request.query)
      linkNextPart(request, reply, page)
      return { files: await toAnswer(request, page.entries) }
    },
  )
}

const uploadRoutes: FastifyPluginAsyncTypebox<FileRoutesOptions> = async (app, options) => {
  const { assistants, uploads, files, openStreams } = options
  const toAnswer = createToFile(options)

  app.post(
    '/assistants/:aid/files',
    {
      config: { ...config, idempotent: true, isUpload: true, staysOpen: true },
      ...streamedBody(app),
      schema: {
        operationId: 'files.upload',
        summary: 'Upload files of any type and size; they are processed in order',
        tags,
        consumes: ['multipart/form-data'],
        params: FilesParams,
        querystring: UploadQuery,
        body: UploadBody,
        response: { 200: UploadResponse, ...refusals(400, 401, 403, 404, 413, 503) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      if (!request.isMultipart()) throw new AppError('unsupported_media_type', 'Send the files as multipart/form-data.')
      await uploads.admit(assistant)
      const parts = filePartsOf(request)
      const upload = await once(request, {
        create: (id, confirm) => uploads.receive(assistant, parts, id, confirm, holderOf(request).makerId),
        find: (id) => uploads.repeated(assistant, parts, id),
      })
      await answerIsFollowed(request)
      const { ingestionId } = upload
      const answer = async ({ entries, hasMore }: Page<FileRecord>) => {
        const path = `/assistants/${assistant._id}/ingestions/${ingestionId}`
        if (hasMore) linkNextPage(request, reply, { offset: entries.length }, path)
        return { files: await toAnswer(request, entries), ingestion_id: ingestionId }
      }
      if (request.query.wait === false) return answer(firstPage(upload.files, firstFiles.limit))
      const stop = new AbortController()
      const waiting = files
        .wait(ingestionId, AbortSignal.any([request.signal, stop.signal]))
        .catch((error: unknown) => {
          // When the service shuts down, the ingestion continues, and the answer contains the progress so far.
          if (!stop.signal.aborted) throw error
        })
      openStreams.track(waiting, () => stop.abort())
      await waiting
      return answer(await files.ofIngestion(ingestionId, firstFiles))
    },
  )
}

const contentRoutes: FastifyPluginAsyncTypebox<FileRoutesOptions> = async (app, { assistants, files }) => {
  app.get(
    '/assistants/:aid/files/:file_id/content',
    {
      config: { ...config, staysOpen: true },
      schema: {
        operationId: 'files.content',
        summary: 'The bytes of a file as it was uploaded',
        tags,
        params: FileParams,
        response: {
          200: {
            description: 'The bytes.',
            content: {
              'application/octet-stream': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
            },
          },
          ...refusals(401, 403, 404),
        },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const { file, bytes } = await files.content(assistant._id, request.params.file_id)
      // Never as what the uploader called it: no browser may take the bytes for a page of this site.
      reply.header('content-length', file.size).header('content-disposition', 'attachment')
      return reply.type('application/octet-stream').send(bytes)
    },
  )
}

const oneFileRoutes: FastifyPluginAsyncTypebox<FileRoutesOptions> = async (app, options) => {
  const { assistants, retries, files, makers } = options

  app.post(
    '/assistants/:aid/files/:file_id/retry',
    {
      config,
      schema: {
        operationId: 'files.retry',
        summary: 'Retry a file whose failure was caused by the service',
        description:
          'For a file whose `metadata.retryable` is true. Answers at once with the current state of the file. A file that has not failed is not processed again, so the request can be repeated. 409 for a file that cannot be read.',
        tags,
        params: FileParams,
        response: { 202: RetryResponse, ...refusals(400, 401, 403, 404, 409, 503) },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const file = await retries.retry(assistant, request.params.file_id)
      reply.status(202)
      const known = await makers([makerOf(file)], [sessionOf(request).user])
      return { file: toFileAnswer(file, known), ingestion_id: file.ingestion_id }
    },
  )

  app.delete(
    '/assistants/:aid/files/:file_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'files.delete',
        summary: 'Remove a file and everything made from it',
        tags,
        params: FileParams,
        response: { 200: FileDeleted, 202: FileDeleted, ...refusals(401, 403, 404, 500) },
      },
    },
    async (request, reply) => {
      const { aid, file_id: id } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      const { status } = await files.remove(assistant, id)
      const deleted = status === 'complete'
      return reply.code(deleted ? 200 : 202).send({ id, deleted, receipt_id: id })
    },
  )
}
