import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { type UploadRecord, uploadLimits } from '../../../services/knowledge/part-uploads.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { nameOf } from '../files/parts.ts'
import { secondsOf } from '../public/compat-objects.ts'
import { PathId, nullable } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'
import { FileObject, expirySeconds, partsOf, purposes, toFileAnswer } from './files.ts'
import { type V1Deps, operation, strict, v1Config, v1Refusals } from './v1-route.ts'

/** Following the types of the `openai` package (resources/uploads). */
const params = Type.Object({ upload_id: PathId })

const UploadCreateRequest = strict(
  {
    bytes: Type.Integer({ minimum: 1, maximum: uploadLimits.bytes }),
    filename: Type.String({ minLength: 1, maxLength: 512 }),
    mime_type: Type.String({ maxLength: requestLimits.nameLength }),
    purpose: Type.Enum([...purposes]),
    expires_after: Type.Optional(
      strict({ anchor: Type.Literal('created_at'), seconds: Type.Integer({ ...expirySeconds }) }),
    ),
  },
  { title: 'V1UploadRequest', about: 'A file that will come in parts.' },
)
const UploadCompleteRequest = strict(
  {
    part_ids: Type.Array(Type.String({ maxLength: 128 }), {
      minItems: 1,
      maxItems: uploadLimits.parts,
      description: 'In the order of the file.',
    }),
    md5: Type.Optional(Type.String({ pattern: '^[0-9A-Fa-f]{32}$', maxLength: 32 })),
  },
  { title: 'V1UploadCompletion', about: 'The parts of a file, in its order.' },
)
/** For the description only: the part is read as it arrives. */
const PartBody = Type.Object(
  { data: Type.String({ format: 'binary', description: 'At most 64 MB.' }) },
  { title: 'V1UploadPartRequest', about: 'The bytes of a part.' },
)

const UploadShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('upload'),
    bytes: Type.Integer(),
    created_at: Type.Integer(),
    expires_at: Type.Integer({ description: 'An hour later. What is not complete then is deleted.' }),
    filename: Type.String(),
    purpose: Type.String(),
    status: Type.Enum(['pending', 'completed', 'cancelled'], {
      title: 'V1UploadStatus',
      about: 'How far an upload is.',
    }),
    file: Type.Optional(nullable(FileObject)),
  },
  { title: 'V1Upload', about: 'A file that comes in parts.' },
)
const PartShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('upload.part'),
    created_at: Type.Integer(),
    upload_id: Type.String(),
  },
  { title: 'V1UploadPart', about: 'A part that has arrived.' },
)

/** `uploads`: files that arrive in parts. */
export const v1UploadRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { uploads } }) => {
  await app.register(multipart)

  app.post(
    '/uploads',
    {
      config: v1Config,
      schema: {
        ...operation('uploads.create', 'Announce a file that will come in parts'),
        body: UploadCreateRequest,
        response: { 200: UploadShape, ...v1Refusals(413) },
      },
    },
    async (request) => {
      const { filename, mime_type: contentType, purpose, bytes, expires_after: expiry } = request.body
      const upload = { name: nameOf(filename), contentType, purpose, bytes, expiresAfterSeconds: expiry?.seconds }
      return toUpload(await uploads.create(callerOf(request), upload), 'pending')
    },
  )

  app.post(
    '/uploads/:upload_id/parts',
    {
      config: { ...v1Config, isUpload: true, staysOpen: true },
      ...streamedBody(app),
      schema: {
        ...operation('uploads.parts.create', 'Add a part; parts may come in any order and at the same time'),
        consumes: ['multipart/form-data'],
        params,
        body: PartBody,
        response: { 200: PartShape, ...v1Refusals(404, 413) },
      },
    },
    async (request) => {
      const { upload_id: uploadId } = request.params
      await uploads.requirePending(callerOf(request), uploadId)
      if (!request.isMultipart()) throw new AppError('unsupported_media_type', 'Send the part as multipart/form-data.')
      let stored: Static<typeof PartShape> | undefined
      for await (const part of partsOf(request)) {
        if (!('file' in part) || stored !== undefined) throw invalidInput(['body', 'data'], 'a request has one part')
        const { _id: id, created_at: at } = await uploads.addPart(callerOf(request), uploadId, part.file.content)
        stored = { id, object: 'upload.part', created_at: secondsOf(at), upload_id: uploadId }
      }
      if (stored === undefined) throw invalidInput(['body', 'data'], 'is required', 'missing')
      return stored
    },
  )

  app.post(
    '/uploads/:upload_id/complete',
    {
      config: { ...v1Config, staysOpen: true, audit: 'successes' },
      schema: {
        ...operation('uploads.complete', 'Make the file of its parts'),
        params,
        body: UploadCompleteRequest,
        response: { 200: UploadShape, ...v1Refusals(404, 409) },
      },
    },
    async (request) => {
      const { part_ids: partIds, md5 } = request.body
      const done = await uploads.complete(callerOf(request), request.params.upload_id, { partIds, md5 })
      return { ...toUpload(done, 'completed'), file: toFileAnswer(done) }
    },
  )

  app.post(
    '/uploads/:upload_id/cancel',
    {
      config: v1Config,
      schema: {
        ...operation('uploads.cancel', 'Delete an unfinished upload with its parts'),
        params,
        response: { 200: UploadShape, ...v1Refusals(404, 409) },
      },
    },
    async (request) => toUpload(await uploads.cancel(callerOf(request), request.params.upload_id), 'cancelled'),
  )
}

function toUpload(
  { _id: id, upload, name, purpose = 'assistants' }: UploadRecord,
  status: 'pending' | 'completed' | 'cancelled',
): Static<typeof UploadShape> {
  return {
    id,
    object: 'upload',
    bytes: upload.bytes,
    created_at: secondsOf(upload.created_at),
    expires_at: secondsOf(upload.created_at) + uploadLimits.openMs / 1000,
    filename: name,
    purpose,
    status,
  }
}
