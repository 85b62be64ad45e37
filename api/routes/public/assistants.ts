import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import { AppError } from '../../../domain/errors.ts'
import { pageOf } from '../../../services/cursor-page.ts'
import type { PublicAssistant } from '../../../services/public/index.ts'
import { compatRefusals } from '../../plugins/compat-errors.ts'
import { PathId, freeForm, nullable } from '../schemas.ts'
import { TokenHeader, assistantOf, namedAssistantOf } from './caller.ts'
import { listPage, secondsOf } from './compat-objects.ts'
import { type CompatDeps, compatConfig, operation } from './compat-route.ts'
import { CompatModel, CompatModelList } from './model-schemas.ts'
import { ListQuery, listOf } from './thread-schemas.ts'

const CompatAssistant = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('assistant'),
    created_at: Type.Integer(),
    name: Type.String(),
    description: nullable(Type.String()),
    model: Type.String(),
    instructions: Type.Null({ description: 'Always empty: only the owner can read the system message.' }),
    tools: Type.Array(Type.Unknown()),
    tool_resources: Type.Null(),
    metadata: freeForm('Always empty.'),
    temperature: nullable(Type.Number()),
    top_p: Type.Null(),
    response_format: Type.Literal('auto'),
  },
  { title: 'CompatAssistant', about: 'The assistant that the token identifies, in the shape of the assistants API.' },
)

const PlatformConfig = Type.Object(
  {
    assistant_id: Type.String(),
    name: Type.String(),
    base_url: Type.String({ description: 'The base URL of the API, as third-party platforms name it.' }),
    token: Type.String({ description: 'The API key, as third-party platforms name it.' }),
    model: Type.String({ description: 'A model name; any name is accepted.' }),
    starters: Type.Array(Type.String(), { description: 'Messages that a new chat offers to begin with.' }),
  },
  { title: 'CompatPlatformConfig', about: 'Base URL and token to configure the assistant in a third-party platform.' },
)

const params = Type.Object({ assistant_id: PathId })

/** `assistants` and `models`: there is one of each, the token's. */
export const publicAssistantRoutes: FastifyPluginAsyncTypebox<CompatDeps> = async (app, { publicFamily }) => {
  app.get(
    '/assistants',
    {
      config: compatConfig,
      schema: {
        ...operation('assistants.list', 'The assistant that the token identifies'),
        headers: TokenHeader,
        querystring: ListQuery,
        response: {
          200: listOf(
            CompatAssistant,
            'CompatAssistantList',
            'A list of assistants in the shape of the assistants API.',
          ),
          ...compatRefusals,
        },
      },
    },
    async (request) => {
      const assistant = toCompatAssistant(publicFamily.about(assistantOf(request)))
      return listPage(pageOf([assistant], ({ id }) => id, request.query))
    },
  )

  app.get(
    '/assistants/:assistant_id',
    {
      config: compatConfig,
      schema: {
        ...operation('assistants.read', 'Read the assistant'),
        headers: TokenHeader,
        params,
        response: { 200: CompatAssistant, ...compatRefusals },
      },
    },
    async (request) => toCompatAssistant(publicFamily.about(namedAssistantOf(request, request.params.assistant_id))),
  )

  app.get(
    '/assistants/:assistant_id/config',
    {
      config: compatConfig,
      schema: {
        ...operation('assistants.config', 'The settings with which a third-party platform uses the assistant'),
        headers: TokenHeader,
        params,
        response: { 200: PlatformConfig, ...compatRefusals },
      },
    },
    async (request) => {
      const assistant = namedAssistantOf(request, request.params.assistant_id)
      return {
        assistant_id: assistant._id,
        name: assistant.name,
        base_url: publicFamily.compatUrl,
        // The token that the caller sent: it selected this assistant.
        token: publicFamily.tokenOf(assistant),
        model: assistant._id,
        starters: publicFamily.about(assistant).starters,
      }
    },
  )

  app.get(
    '/models',
    {
      config: compatConfig,
      schema: {
        ...operation('models.list', 'The list of models, which contains the assistant'),
        headers: TokenHeader,
        response: {
          200: CompatModelList,
          ...compatRefusals,
        },
      },
    },
    async (request) => ({
      object: 'list' as const,
      data: [toModel(publicFamily.about(assistantOf(request)))],
    }),
  )

  app.get(
    '/models/:model',
    {
      config: compatConfig,
      schema: {
        ...operation('models.read', 'Read the assistant as a model'),
        headers: TokenHeader,
        params: Type.Object({ model: Type.String({ minLength: 1, maxLength: 500 }) }),
        response: { 200: CompatModel, ...compatRefusals },
      },
    },
    async (request) => {
      const model = toModel(publicFamily.about(assistantOf(request)))
      if (model.id !== request.params.model) throw new AppError('not_found', 'There is no such model.')
      return model
    },
  )
}

function toCompatAssistant(about: PublicAssistant): Static<typeof CompatAssistant> {
  return {
    id: about.id,
    object: 'assistant',
    created_at: secondsOf(about.createdAt),
    name: about.name,
    description: about.description === '' ? null : about.description,
    model: about.model,
    instructions: null,
    tools: [],
    tool_resources: null,
    metadata: {},
    temperature: about.temperature ?? null,
    top_p: null,
    response_format: 'auto',
  }
}

function toModel(about: PublicAssistant): Static<typeof CompatModel> {
  return { id: about.id, object: 'model', created: secondsOf(about.createdAt), owned_by: 'assistant-platform' }
}
