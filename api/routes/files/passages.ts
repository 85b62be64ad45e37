import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { refusals } from '../schemas.ts'
import { FileParams, FilesParams } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']
const place = {
  page: Type.Optional(
    Type.Integer({
      description:
        'The first page of the text, from 1: a page of a PDF or a slide. Without `last_page`, the page that most of the text is from: the file was processed by an earlier version.',
    }),
  ),
  last_page: Type.Optional(Type.Integer({ description: 'The last page of the text.' })),
  pages: Type.Optional(
    Type.Array(
      Type.Object({
        page: Type.Integer(),
        label: Type.Optional(
          Type.String({ description: 'What the document calls the page, where that differs: `xii`.' }),
        ),
        starts_with: Type.Optional(
          Type.String({ description: 'The first words on this page, in a passage on several pages.' }),
        ),
        sentences: Type.Array(
          Type.Integer({ description: 'Where a sentence begins in `text`, in UTF-16 code units, ascending.' }),
        ),
      }),
      { description: 'The pages of the text in order, with the sentences on each.' },
    ),
  ),
  sheets: Type.Optional(
    Type.Array(
      Type.Object({
        sheet: Type.Optional(Type.String({ description: 'The name of the sheet of a workbook.' })),
        rows: Type.Array(Type.Integer({ description: 'Numbers of rows, from 1.' })),
        starts: Type.Array(Type.Integer({ description: 'Where each row begins in `text`, in UTF-16 code units.' })),
      }),
      { description: 'The rows of a workbook or CSV file in the text, in order.' },
    ),
  ),
  heading: Type.Optional(Type.String()),
  caption: Type.Optional(
    Type.String({ description: 'What stands above the rows with which the text begins: the caption of a table.' }),
  ),
}

const ChunkList = Type.Object(
  {
    chunks: Type.Array(
      Type.Object({
        position: Type.Integer({ description: 'Position in the file, from 0.' }),
        text: Type.String(),
        tokens: Type.Integer(),
        ...place,
      }),
    ),
    total: Type.Integer(),
  },
  { title: 'ChunkList', about: 'Pieces of a file, as they are embedded and found.' },
)

const SearchFilesRequest = Type.Object(
  {
    query: Type.String({ minLength: 1, maxLength: 2000 }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 5 })),
  },
  { title: 'SearchFilesRequest', about: 'A query for the files of an assistant.' },
)

const PassageList = Type.Object(
  {
    passages: Type.Array(
      Type.Object({
        file_id: Type.String(),
        file_name: Type.String(),
        copies: Type.Optional(
          Type.Array(Type.String(), { description: 'The names of other files with the same bytes.' }),
        ),
        url: Type.Optional(Type.String({ description: 'Of a page of the web: its address.' })),
        title: Type.Optional(Type.String({ description: 'Of a page of the web: its title.' })),
        ...place,
        text: Type.String(),
        score: Type.Number({ description: '0 to 1, best first.' }),
        by_meaning: Type.Optional(
          Type.Number({
            description: 'How it compares with the others by meaning, 0 to 1; absent if only its words fit.',
          }),
        ),
        by_words: Type.Optional(
          Type.Number({
            description: 'How it compares with the others by words, 0 to 1; absent if only its meaning fits.',
          }),
        ),
        by_name: Type.Optional(
          Type.Number({
            description:
              'How much the query holds of what tells the name of its file from others, 0 to 1; absent if nothing.',
          }),
        ),
      }),
    ),
  },
  { title: 'PassageList', about: 'Passages that match a question, best first.' },
)

/** How the files of an assistant are split and found, for its owner. */
export const passageRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'passages'>> = async (
  app,
  { assistants, passages },
) => {
  app.get(
    '/assistants/:aid/files/:file_id/chunks',
    {
      config,
      schema: {
        operationId: 'files.chunks',
        summary: 'The chunks of a file, in order; the header Link names the next page',
        tags,
        params: FileParams,
        querystring: ListPage,
        response: { 200: ChunkList, ...refusals(401, 403, 404) },
      },
    },
    async (request, reply) => {
      const { aid, file_id: fileId } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      const { page, total } = await passages.ofFile(assistant._id, fileId, request.query)
      linkNextPart(request, reply, page)
      return { chunks: page.entries, total }
    },
  )

  app.post(
    '/assistants/:aid/files/search',
    {
      config: { ...config, limits: ['runs_user'] },
      schema: {
        operationId: 'files.search',
        summary: 'The passages that the tool retrieval would give the model for a query',
        tags,
        params: FilesParams,
        body: SearchFilesRequest,
        response: { 200: PassageList, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const { query, limit = 5 } = request.body
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(30_000)])
      return { passages: await passages.search(assistant, query, limit, signal, { explain: true }) }
    },
  )
}
