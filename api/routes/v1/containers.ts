import multipart from '@fastify/multipart'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { bytesWithin } from '../../../domain/bytes-within.ts'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import { type Container, type ContainerFile, containerLimits } from '../../../services/v1/containers.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { listPage, secondsOf } from '../public/compat-objects.ts'
import { ListQuery, listOf } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { streamedBody } from '../streamed-body.ts'
import { partsOf } from './files.ts'
import { type V1Deps, DeletedAnswer, operation, toDeleted, strict, v1Config, v1Refusals } from './v1-route.ts'
import { fileId } from './vector-store-schemas.ts'

/** Following the types of the `openai` package (resources/containers). */
const containerIdText = Type.String({ minLength: 1, maxLength: 200 })
const params = Type.Object({ container_id: containerIdText })
const fileParams = Type.Object({ container_id: containerIdText, file_id: containerIdText })
export const MemoryLimit = Type.Enum(['1g', '4g', '16g', '64g'], {
  title: 'V1MemoryLimit',
  about: 'The memory that was asked for.',
  description: 'Has no effect: sessions have the memory that the settings give them.',
})

const ContainerCreateRequest = strict(
  {
    name: Type.String({ minLength: 1, maxLength: 256 }),
    expires_after: Type.Optional(
      nullable(
        strict({
          anchor: Type.Literal('last_active_at'),
          minutes: Type.Integer({ minimum: 1, maximum: containerLimits.minutes }),
        }),
      ),
    ),
    file_ids: Type.Optional(nullable(Type.Array(fileId, { maxItems: containerLimits.files }))),
    memory_limit: Type.Optional(nullable(MemoryLimit)),
    network_policy: Type.Optional(nullable(Type.Object({ type: Type.String({ maxLength: 64 }) }))),
    skills: Type.Optional(nullable(Type.Array(Type.Null(), { maxItems: 0, description: 'None: there are none.' }))),
  },
  { title: 'V1ContainerCreateRequest', about: 'A new container, and its first files.' },
)

const ContainerShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('container'),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    name: Type.String(),
    status: Type.Enum(['running', 'expired'], {
      title: 'V1ContainerStatus',
      about: 'An expired container has no files any more.',
    }),
    last_active_at: Type.Integer(),
    expires_after: Type.Optional(
      Type.Object(
        { anchor: Type.Literal('last_active_at'), minutes: Type.Integer() },
        { title: 'V1ContainerExpiry', about: 'When a container goes.' },
      ),
    ),
    memory_limit: MemoryLimit,
    network_policy: Type.Object({ type: Type.Literal('disabled') }),
  },
  { title: 'V1Container', about: 'A session of code with its files.' },
)

const ContainerFileShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('container.file'),
    container_id: Type.String(),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    bytes: Type.Integer(),
    path: Type.String(),
    source: Type.Enum(['user', 'assistant'], {
      title: 'V1ContainerFileSource',
      about: 'Whether code has written the file.',
    }),
  },
  { title: 'V1ContainerFile', about: 'A file of a container.' },
)

/** For the description: of a form, the parts are read as they arrive. */
const FileCreateRequest = Type.Object(
  {
    file: Type.Optional(Type.String({ format: 'binary', maxLength: 8 * 1024 * 1024 })),
    file_id: Type.Optional(fileId),
  },
  {
    title: 'V1ContainerFileCreateRequest',
    about: 'A file for a container.',
    description: 'A form with a file, or the id of a file of the project.',
  },
)
const FileNamed = Type.Object({ file_id: fileId })

/** `containers`: sessions of Python with their files. */
export const v1ContainerRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, deps) => {
  const { containers } = deps.v1
  await app.register(containerFileRoutes, deps)

  app.post(
    '/containers',
    {
      config: { ...v1Config, idempotent: true, audit: 'successes' },
      schema: {
        ...operation(
          'containers.create',
          'Make a session for Python with files',
          'It is deleted 20 minutes after its last use, or sooner if the request says so.',
        ),
        body: ContainerCreateRequest,
        response: { 200: ContainerShape, ...v1Refusals(404, 413, 429) },
      },
    },
    async (request) => {
      const {
        name,
        expires_after: expiry,
        file_ids: fileIds,
        memory_limit: memory,
        network_policy: network,
      } = request.body
      if (network && network.type !== 'disabled')
        throw invalidInput(['body', 'network_policy', 'type'], `${network.type} is not available here`, 'unsupported')
      const caller = callerOf(request)
      const requested = {
        name,
        minutes: expiry?.minutes ?? containerLimits.minutes,
        memoryLimit: memory ?? undefined,
        fileIds: fileIds ?? [],
      }
      return toContainer(
        await once(request, {
          create: (id) => containers.create(caller, requested, id),
          find: (id) => orNull(containers.ofThread(caller, id)),
        }),
      )
    },
  )

  app.get(
    '/containers',
    {
      config: v1Config,
      schema: {
        ...operation('containers.list', 'The containers that were made by themselves'),
        querystring: Type.Object({
          ...ListQuery.properties,
          name: Type.Optional(Type.String({ maxLength: 256, description: 'Only those with this name.' })),
        }),
        response: { 200: listOf(ContainerShape, 'V1ContainerList', 'A page of containers.'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries, hasMore } = await containers.page(callerOf(request), request.query)
      return listPage({ entries: entries.map(toContainer), hasMore })
    },
  )

  app.get(
    '/containers/:container_id',
    {
      config: v1Config,
      schema: {
        ...operation('containers.read', 'Read a container, or that of a response'),
        params,
        response: { 200: ContainerShape, ...v1Refusals(404) },
      },
    },
    async (request) => toContainer(await containers.find(callerOf(request), request.params.container_id)),
  )

  app.delete(
    '/containers/:container_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation(
          'containers.delete',
          'Delete a container with its files',
          'Of the container of a response, the files that code has written are deleted.',
        ),
        params,
        response: {
          200: DeletedAnswer('container.deleted', 'V1ContainerDeleted', 'The deletion of a container.'),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { container_id: id } = request.params
      const result = await containers.remove(callerOf(request), id)
      return result === undefined
        ? { id, object: 'container.deleted' as const, deleted: true }
        : toDeleted('container.deleted', id, result)
    },
  )
}

const containerFileRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { containers } }) => {
  await app.register(multipart)

  app.post(
    '/containers/:container_id/files',
    {
      config: { ...v1Config, staysOpen: true, audit: 'successes' },
      validatorCompiler: streamedBody(app).validatorCompiler,
      schema: {
        ...operation('containers.files.create', 'Add a file to a container'),
        consumes: ['multipart/form-data', 'application/json'],
        params,
        body: FileCreateRequest,
        response: { 200: ContainerFileShape, ...v1Refusals(404, 413) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { container_id: id } = request.params
      await containers.use(caller, id)
      return toFileAnswer(await containers.addFile(caller, id, await givenFile(request)))
    },
  )

  app.get(
    '/containers/:container_id/files',
    {
      config: v1Config,
      schema: {
        ...operation('containers.files.list', 'The files of a container'),
        params,
        querystring: ListQuery,
        response: { 200: listOf(ContainerFileShape, 'V1ContainerFileList', 'A page of files.'), ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { entries, hasMore } = await containers.files(callerOf(request), request.params.container_id, request.query)
      return listPage({ entries: entries.map(toFileAnswer), hasMore })
    },
  )

  app.get(
    '/containers/:container_id/files/:file_id',
    {
      config: v1Config,
      schema: {
        ...operation('containers.files.read', 'Read what is known of a file of a container'),
        params: fileParams,
        response: { 200: ContainerFileShape, ...v1Refusals(404) },
      },
    },
    async (request) => {
      const { container_id: id, file_id: file } = request.params
      return toFileAnswer(await containers.file(callerOf(request), id, file))
    },
  )

  app.get(
    '/containers/:container_id/files/:file_id/content',
    {
      config: v1Config,
      schema: {
        ...operation('containers.files.content', 'The bytes of a file of a container'),
        params: fileParams,
        response: {
          200: {
            description: 'The bytes.',
            content: {
              'application/octet-stream': { schema: Type.Unsafe<Buffer>({ type: 'string', format: 'binary' }) },
            },
          },
          ...v1Refusals(404),
        },
      },
    },
    async (request, reply) => {
      const { container_id: id, file_id: file } = request.params
      const bytes = await containers.content(callerOf(request), id, file)
      return reply.header('content-disposition', 'attachment').type('application/octet-stream').send(bytes)
    },
  )

  app.delete(
    '/containers/:container_id/files/:file_id',
    {
      config: { ...v1Config, audit: 'successes' },
      schema: {
        ...operation('containers.files.delete', 'Delete a file of a container'),
        params: fileParams,
        response: {
          200: DeletedAnswer(
            'container.file.deleted',
            'V1ContainerFileDeleted',
            'The deletion of a file of a container.',
          ),
          ...v1Refusals(404),
        },
      },
    },
    async (request) => {
      const { container_id: id, file_id: file } = request.params
      await containers.removeFile(callerOf(request), id, file)
      return { id: file, object: 'container.file.deleted' as const, deleted: true }
    },
  )
}

type GivenFile = Parameters<V1Deps['v1']['containers']['addFile']>[2]

/** The file of a form, or the id of one, in a form or as JSON. */
async function givenFile(request: FastifyRequest): Promise<GivenFile> {
  if (!request.isMultipart()) {
    if (!Value.Check(FileNamed, request.body)) throw noFile()
    return { fileId: request.body.file_id }
  }
  let given: GivenFile | undefined
  for await (const part of partsOf(request)) {
    if ('field' in part) {
      if (part.field === 'file_id' && given === undefined) given = { fileId: part.value }
      continue
    }
    const { name, content } = part.file
    const bytes = await bytesWithin(content, containerLimits.fileBytes)
    if (bytes === undefined) throw new AppError('payload_too_large', 'A file of a container has 8 MiB at most.')
    given = { name, bytes }
  }
  if (given === undefined) throw noFile()
  return given
}

function noFile(): AppError {
  return invalidInput(['body', 'file'], 'is required, or file_id', 'missing')
}

function toContainer({ id, thread, isExpired }: Container): Static<typeof ContainerShape> {
  const { container } = thread
  const memory = container?.memory_limit
  return {
    id,
    object: 'container',
    created_at: secondsOf(thread.created_at),
    name: thread.name,
    status: isExpired ? 'expired' : 'running',
    last_active_at: secondsOf(thread.updated_at),
    ...(container === undefined
      ? {}
      : { expires_after: { anchor: 'last_active_at' as const, minutes: container.minutes } }),
    memory_limit: memory === '4g' || memory === '16g' || memory === '64g' ? memory : '1g',
    network_policy: { type: 'disabled' },
  }
}

function toFileAnswer(file: ContainerFile): Static<typeof ContainerFileShape> {
  return {
    id: file.id,
    object: 'container.file',
    container_id: file.containerId,
    created_at: secondsOf(file.createdAt),
    bytes: file.bytes,
    path: file.path,
    source: file.isWritten ? 'assistant' : 'user',
  }
}
