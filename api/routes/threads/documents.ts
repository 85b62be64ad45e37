import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { documentLimits } from '../../../domain/records/document.ts'
import type { DocumentVersion } from '../../../services/documents/store.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { Message } from '../auth/schemas.ts'
import { MadeBy, type Makers, PathId, Timestamp, refusals, toMaker } from '../schemas.ts'

const { nameLength, languageLength, bytes } = documentLimits

const version = {
  number: Type.Integer({ description: 'From 1; the oldest versions of a document that is changed often are removed.' }),
  made_by: Type.Enum(['person', 'answer'], { title: 'DocumentMaker', about: 'Who wrote a version.' }),
  author: MadeBy,
  message_id: Type.Union([Type.String(), Type.Null()], { description: 'The answer that wrote it.' }),
  size: Type.Integer({ description: 'In bytes.' }),
  created_at: Timestamp,
}
const Version = Type.Object(version, { title: 'DocumentVersion', about: 'A version of a document, without its text.' })
const document = { document_id: Type.String(), name: Type.String(), language: Type.String() }
const Document = Type.Object(
  { ...document, versions: Type.Array(Version) },
  { title: 'ThreadDocument', about: 'A text or code that stands beside a thread.' },
)
const DocumentText = Type.Object(
  { ...document, ...version, content: Type.String() },
  { title: 'DocumentText', about: 'A version of a document.' },
)

const DocumentPutRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: nameLength }),
    language: Type.Optional(
      Type.String({ maxLength: languageLength, description: 'As answers name it behind their fences.' }),
    ),
    content: Type.String({ maxLength: bytes, description: `At most ${bytes / 1024} KB.` }),
    message_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'The answer that wrote it. Absent: a person.' }),
    ),
    base: Type.Integer({ minimum: 0, description: 'The newest version that you know; 0: there is none.' }),
  },
  { title: 'DocumentPutRequest', about: 'A version of a document.' },
)

const params = Type.Object({ tid: PathId, document_id: PathId })
const config = { auth: 'project' } as const
const tags = ['threads']
/** In JSON a byte takes at most six characters. */
const bodyLimit = 6 * bytes + 4096

/** `/threads/:tid/documents`: texts and code that stand beside a thread, with their versions. */
export const threadDocumentRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'documents' | 'makers'>> = async (
  app,
  { documents, makers },
) => {
  app.get(
    '/threads/:tid/documents',
    {
      config,
      schema: {
        operationId: 'threads.documents.list',
        summary: 'The documents of a thread with their versions, without the texts',
        tags,
        params: Type.Object({ tid: PathId }),
        response: { 200: Type.Array(Document), ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { thread, versions } = await documents.list(callerOf(request), request.params.tid)
      const known =
        thread.visibility === 'project' ? await makers(versions.flatMap(({ author_id: id }) => id ?? [])) : none
      const byDocument = Map.groupBy(versions, ({ document_id: id }) => id)
      return [...byDocument.values()].map((all) => ({
        ...nameOf(all.at(-1)),
        versions: all.map((one) => show(one, known)),
      }))
    },
  )

  app.get(
    '/threads/:tid/documents/:document_id',
    {
      config,
      schema: {
        operationId: 'threads.documents.read',
        summary: 'The text of a document, the newest or an earlier one',
        tags,
        params,
        querystring: Type.Object({
          number: Type.Optional(Type.Integer({ minimum: 1, description: 'Of the version; default: the newest.' })),
        }),
        response: { 200: DocumentText, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { tid, document_id: id } = request.params
      const found = await documents.read(callerOf(request), tid, id, request.query.number)
      return { ...nameOf(found), ...show(found, none), content: found.content }
    },
  )

  app.put(
    '/threads/:tid/documents/:document_id',
    {
      config,
      bodyLimit,
      schema: {
        operationId: 'threads.documents.put',
        summary: 'Add a version to a document; the first makes it',
        description:
          `A thread has at most ${documentLimits.documents} documents, a document the newest ` +
          `${documentLimits.versions} versions. 409 if \`base\` is not the newest version.`,
        tags,
        params,
        body: DocumentPutRequest,
        response: { 200: Version, ...refusals(400, 401, 403, 404, 409, 413) },
      },
    },
    async (request) => {
      const { tid, document_id: id } = request.params
      return show(await documents.put(callerOf(request), tid, id, { language: '', ...request.body }), none)
    },
  )

  app.delete(
    '/threads/:tid/documents/:document_id',
    {
      config,
      schema: {
        operationId: 'threads.documents.delete',
        summary: 'Delete a document with all of its versions; what was said stays',
        tags,
        params,
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await documents.remove(callerOf(request), request.params.tid, request.params.document_id)
      return { message: 'The document is deleted.' }
    },
  )
}

/** In a thread that nobody else sees, all is the reader's own. */
const none: Makers = new Map()

function nameOf(newest: DocumentVersion | undefined) {
  const { document_id = '', name = '', language = '' } = newest ?? {}
  return { document_id, name, language }
}

function show(one: DocumentVersion, known: Makers): Static<typeof Version> {
  return {
    number: one.number,
    made_by: one.message_id === undefined ? 'person' : 'answer',
    author: toMaker(known, one.author_id),
    message_id: one.message_id ?? null,
    size: one.size,
    created_at: one.created_at.toISOString(),
  }
}
