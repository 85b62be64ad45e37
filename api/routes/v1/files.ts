import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import type { FileRecord } from '../../../domain/records/file.ts'
import type { FormPart } from '../../../services/knowledge/receive-project-file.ts'
import { brokenOff } from '../../../services/knowledge/upload.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { nameOf, uploadLimits } from '../files/parts.ts'
import { listPage, secondsOf } from '../public/compat-objects.ts'
import { ListQuery, listOf } from '../public/thread-schemas.ts'
import { PathId } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, v1Config, v1Refusals } from './v1-route.ts'

export const purposes = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'] as const
const params = Type.Object({ file_id: PathId })

export const FileObject = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('file'),
    bytes: Type.Integer(),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    filename: Type.String(),
    purpose: Type.String(),
    expires_at: Type.Optional(Type.Integer()),
    status: Type.Literal('processed'),
    status_details: Type.Null(),
  },
  { title: 'V1File', about: 'A file of the project.' },
)

/** For the description only: the parts are read as they arrive. */
const UploadBody = Type.Object(
  {
    file: Type.String({ format: 'binary' }),
    purpose: Type.Enum([...purposes]),
    'expires_after[anchor]': Type.Optional(Type.Literal('created_at')),
    'expires_after[seconds]': Type.Optional(Type.String({ pattern: String.raw`^\d{1,9}$` })),
  },
  { title: 'V1FileUploadRequest', about: 'A file and its purpose, as multipart form data.' },
)

const FileQuery = Type.Object({
  ...ListQuery.properties,
  limit: Type.Integer({ minimum: 1, maximum: 10_000, default: 10_000 }),
  purpose: Type.Optional(Type.String({ maxLength: 64, description: 'Only files with this purpose.' })),
})

/** `files`: those of the project, which vector stores read. */
export const v1FileRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { files } }) => {
  await app.register(multipart)

  app.post(
    '/files',
    {
      config: { ...v1Config, isUpload: true, staysOpen: true, audit: 'successes' },
      ...streamedBody(app),
      schema: {
        ...operation('files.create', 'Upload a file of any type and size'),
        consumes: ['multipart/form-data'],
        body: UploadBody,
        response: { 200: FileObject, ...v1Refusals(413) },
      },
    },
    async (request) => {
      if (!request.isMultipart()) throw new AppError('unsupported_media_type', 'Send the file as multipart/form-data.')
      return toFileAnswer(await files.receive(callerOf(request), partsOf(request), membersOf))
    },
  )

  app.get(
    '/files',
    {
      config: v1Config,
      schema: {
        ...operation('files.list', 'The files of the project'),
        querystring: FileQuery,
        response: { 200: listOf(FileObject, 'V1FileList', 'A page of files.'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries, hasMore } = await files.page(callerOf(request), request.query)
      return listPage({ entries: entries.map(toFileAnswer), hasMore })
    },
  )

  app.get(
    '/files/:file_id',
    {
      config: v1Config,
      schema: {
        ...operation('files.read', 'Read what is known of a file'),
        params,
        response: { 200: FileObject, ...v1Refusals(404) },
      },
    },
    async (request) => toFileAnswer(await files.find(callerOf(request), request.params.file_id)),
  )

  app.get(
    '/files/:file_id/content',
    {
      config: { ...v1Config, staysOpen: true },
      schema: {
        ...operation('files.content', 'The bytes of a file'),
        params,
        response: {
          200: {
            description: 'The bytes as they were uploaded.',
            content: {
              'application/octet-stream': { schema: Type.Unsafe<Readable>({ type: 'string', format: 'binary' }) },
            },
          },
          ...v1Refusals(404),
        },
      },
    },
    async (request, reply) => {
      const { file, bytes } = await files.content(callerOf(request), request.params.file_id)
      reply.header('content-length', file.size).header('content-disposition', 'attachment')
      return reply.type('application/octet-stream').send(bytes)
    },
  )

  app.delete(
    '/files/:file_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('files.delete', 'Delete a file, and remove it from all vector stores'),
        params,
        response: { 200: DeletedAnswer('file', 'V1FileDeleted', 'The deletion of a file.'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { file_id: id } = request.params
      return toDeleted('file', id, await files.remove(callerOf(request), id))
    },
  )
}

export async function* partsOf(request: FastifyRequest): AsyncGenerator<FormPart> {
  if (request.raw.destroyed) throw brokenOff(new Error('the connection was closed'))
  try {
    for await (const part of request.parts({ limits: uploadLimits })) {
      if (part.type === 'file')
        yield { file: { name: nameOf(part.filename), contentType: part.mimetype, content: part.file } }
      else yield { field: part.fieldname, value: typeof part.value === 'string' ? part.value : '' }
    }
  } catch (error) {
    throw brokenOff(error)
  }
}

const expiryFields = ['expires_after[anchor]', 'expires_after[seconds]']

function membersOf(fields: Map<string, string>): Pick<FileRecord, 'purpose' | 'expires_at'> {
  for (const name of fields.keys()) {
    if (name === 'purpose' || expiryFields.includes(name)) continue
    const [member = ''] = name.split('[')
    throw invalidInput(['body', member], 'is not known', 'additionalProperties')
  }
  const purpose = fields.get('purpose')
  if (purpose === undefined) throw invalidInput(['body', 'purpose'], 'is required', 'missing')
  if (!purposes.some((known) => known === purpose))
    throw invalidInput(['body', 'purpose'], `is one of ${purposes.join(', ')}`, 'enum')
  const [anchor, seconds] = expiryFields.map((name) => fields.get(name))
  if (anchor === undefined && seconds === undefined) return { purpose }
  if (anchor !== 'created_at') throw invalidInput(['body', 'expires_after', 'anchor'], 'is created_at', 'enum')
  return { purpose, expires_at: expiryAfter(seconds) }
}

/** As the interface says: from an hour to thirty days. */
export const expirySeconds = { minimum: 3600, maximum: 2_592_000 }

function expiryAfter(text: string | undefined): Date {
  const { minimum, maximum } = expirySeconds
  const seconds = Number(text)
  if (text === undefined || !/^\d{1,9}$/.test(text) || seconds < minimum || seconds > maximum)
    throw invalidInput(['body', 'expires_after', 'seconds'], `is a whole number from ${minimum} to ${maximum}`)
  return new Date(Date.now() + seconds * 1000)
}

export function toFileAnswer(file: FileRecord): Static<typeof FileObject> {
  return {
    id: file._id,
    object: 'file',
    bytes: file.size,
    created_at: secondsOf(file.created_at),
    filename: file.name,
    purpose: file.purpose ?? 'assistants',
    ...(file.expires_at === undefined ? {} : { expires_at: secondsOf(file.expires_at) }),
    status: 'processed',
    status_details: null,
  }
}
