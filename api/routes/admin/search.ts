import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { searchProviders } from '../../../domain/search-account.ts'
import { nullable, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'

const Provider = Type.Enum([...searchProviders], { title: 'SearchProvider', about: 'A service that searches the web.' })
const KnowledgeServer = {
  kind: Type.Enum(['server', 'built_in', 'words', 'none'], {
    title: 'KnowledgeServerKind',
    about: 'What it is.',
    description: '`built_in`: the model of this service. `words`: files are searched by their words.',
  }),
  base_url: nullable(Type.String()),
  model: nullable(Type.String()),
  key: Type.Enum(['none', 'set'], { title: 'KnowledgeServerKey', about: 'Whether a key is sent.' }),
}

const SearchSettings = Type.Object(
  {
    web: Type.Object({
      provider: nullable(Provider),
      base_url: nullable(Type.String({ description: "Null: the provider's own." })),
      source: Type.Enum(['environment', 'stored'], {
        title: 'SearchSource',
        about: 'Who has set it. What the environment says wins.',
      }),
      key: Type.Enum(['none', 'set', 'unreadable'], { title: 'SearchKey', about: 'Whether a key is sent.' }),
      key_hint: Type.String({ description: 'The first characters of the key, at most six.' }),
    }),
    embedding: Type.Object({ ...KnowledgeServer, dimensions: nullable(Type.Integer()) }),
    reranking: Type.Object(KnowledgeServer),
  },
  { title: 'SearchSettings', about: 'Where the web is searched, and which servers search in files.' },
)

const SearchRequest = Type.Object(
  {
    provider: nullable(Provider),
    base_url: Type.Optional(nullable(Type.String({ minLength: 8, maxLength: 2000, pattern: '^https?://' }))),
    api_key: Type.Optional(
      nullable(
        Type.Unsafe<string>({
          ...Type.String({ minLength: 1, maxLength: 2000, pattern: '^[\\x21-\\x7e]+$' }),
          description: 'Absent: the key stays, if provider and address stay. Null: none.',
        }),
      ),
    ),
  },
  { title: 'SearchRequest', about: 'Where the web is searched from now on.' },
)

const TrySearchRequest = Type.Object(
  {
    what: Type.Enum(['web', 'embedding', 'reranking'], { title: 'TriedSearch', about: 'What is tried.' }),
    query: Type.String({ minLength: 1, maxLength: 400, pattern: '\\S' }),
  },
  { title: 'TrySearchRequest', about: 'A question to what is set.' },
)

const SearchTrial = Type.Object(
  {
    works: Type.Boolean(),
    ms: Type.Integer({ description: 'How long it took.' }),
    problem: nullable(Type.String()),
    pages: Type.Array(Type.Object({ title: Type.String(), url: Type.String(), text: Type.String() })),
    dimensions: nullable(Type.Integer({ description: 'The length of the vector of the question.' })),
    scores: Type.Array(Type.Object({ text: Type.String(), score: Type.Number({ description: 'From 0 to 1.' }) }), {
      description: 'How well three texts fit the question, the best first.',
    }),
  },
  { title: 'SearchTrial', about: 'What an answer was like.' },
)

const querystring = Type.Object(AdminQuery)
const audited = { ...config, audit: 'successes' } as const

/** `/admin/search`: where the web is searched, and which servers search in files. */
export const adminSearchRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration: { search } },
) => {
  app.get(
    '/admin/search',
    {
      config,
      schema: {
        operationId: 'admin.readSearch',
        summary: 'The search service, and the servers for embeddings and reranking',
        tags,
        querystring,
        response: { 200: SearchSettings, ...refusals(401, 503) },
      },
    },
    () => search.view(),
  )

  app.put(
    '/admin/search',
    {
      config: audited,
      schema: {
        operationId: 'admin.putSearch',
        summary: 'Set the search service; its key is stored encrypted',
        tags,
        querystring,
        body: SearchRequest,
        response: { 200: SearchSettings, ...refusals(401, 409, 503) },
      },
    },
    ({ body }) => search.put(body),
  )

  app.post(
    '/admin/search/try',
    {
      config: audited,
      schema: {
        operationId: 'admin.trySearch',
        summary: 'Ask what is set a question, and see what it answers',
        tags,
        querystring,
        body: TrySearchRequest,
        response: { 200: SearchTrial, ...refusals(401, 503) },
      },
    },
    ({ body: { what, query } }) => search.try(what, query),
  )
}
