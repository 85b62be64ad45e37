import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type FolderRecord, folderLimits } from '../../../domain/records/folder.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { Message } from '../auth/schemas.ts'
import { PathId, Timestamp, nullable, refusals } from '../schemas.ts'

const name = Type.String({ minLength: 1, maxLength: folderLimits.nameLength })
const instructions = Type.Optional(
  nullable(
    Type.String({
      maxLength: folderLimits.instructionsLength,
      description: 'What the model is told in every chat of the folder, before the instructions of the chat.',
    }),
  ),
)
const FolderCreateRequest = Type.Object(
  { name, instructions },
  { title: 'FolderCreateRequest', about: 'A folder to make.' },
)
const FolderPutRequest = Type.Object(
  { name: Type.Optional(name), instructions },
  { title: 'FolderPutRequest', about: 'The members of a folder to change.' },
)
const FolderFileRequest = Type.Object(
  { file_id: Type.String({ minLength: 1, maxLength: 128, description: 'A file of the project.' }) },
  { title: 'FolderFileRequest', about: 'A file that a folder gets.' },
)

const Folder = Type.Object(
  {
    folder_id: Type.String(),
    project_id: Type.String(),
    name: Type.String(),
    instructions: nullable(Type.String()),
    vector_store_id: nullable(
      Type.String({ description: 'Its files, which `/v1/vector_stores` lists; null before the first.' }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Folder', about: 'A folder of threads.' },
)

const params = Type.Object({ folder_id: PathId })
const config = { auth: 'project' } as const
const tags = ['folders']

/** `/folders`: the caller's folders of threads, with what holds in all of them. */
export const folderRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'folders'>> = async (app, { folders }) => {
  app.get(
    '/folders/',
    {
      config,
      schema: {
        operationId: 'folders.list',
        summary: "Your folders in the token's project, by name",
        tags,
        response: { 200: Type.Array(Folder), ...refusals(401, 403) },
      },
    },
    async (request) => (await folders.list(callerOf(request))).map(show),
  )

  app.post(
    '/folders/',
    {
      config: { ...config, idempotent: true },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'folders.create',
        summary: `Make a folder; an account has at most ${folderLimits.folders}`,
        tags,
        body: FolderCreateRequest,
        response: { 200: Folder, ...refusals(400, 401, 403) },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      return show(
        await once(request, {
          create: (id) => folders.create(caller, request.body, id),
          find: (id) => orNull(folders.read(caller, id)),
        }),
      )
    },
  )

  app.put(
    '/folders/:folder_id',
    {
      config,
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'folders.put',
        summary: 'Change the given members of a folder',
        tags,
        params,
        body: FolderPutRequest,
        response: { 200: Folder, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) => show(await folders.change(callerOf(request), request.params.folder_id, request.body)),
  )

  app.post(
    '/folders/:folder_id/files',
    {
      config,
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'folders.files.create',
        summary: `Have a file searched in every thread of the folder; one has at most ${folderLimits.files}`,
        tags,
        params,
        body: FolderFileRequest,
        response: { 200: Folder, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => show(await folders.addFile(callerOf(request), request.params.folder_id, request.body.file_id)),
  )

  app.delete(
    '/folders/:folder_id',
    {
      config,
      schema: {
        operationId: 'folders.delete',
        summary: 'Delete a folder and its files; its threads stay',
        tags,
        params,
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await folders.remove(callerOf(request), request.params.folder_id)
      return { message: 'The folder is deleted. Its chats are in none now.' }
    },
  )
}

function show(folder: FolderRecord): Static<typeof Folder> {
  return {
    folder_id: folder._id,
    project_id: folder.project_id,
    name: folder.name,
    instructions: folder.instructions ?? null,
    vector_store_id: folder.vector_store_id ?? null,
    created_at: folder.created_at.toISOString(),
    updated_at: folder.updated_at.toISOString(),
  }
}
