import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { seemsToChat } from '../../../domain/served-models.ts'
import { PathId, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import {
  ModelChoicesRequest,
  ModelServerRequest,
  ModelSettings,
  LookForModelsRequest,
  ModelTrial,
  ServedModels,
  TryModelRequest,
} from './model-schemas.ts'

const querystring = Type.Object(AdminQuery)
const params = Type.Object({ server_id: PathId })
const audited = { ...config, audit: 'successes' } as const

/** `/admin/models`: which models assistants can use, at which servers, and what these can do. */
export const adminModelRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration: { models } },
) => {
  const response = { 200: ModelSettings, ...refusals(401, 409, 503) }

  app.get(
    '/admin/models',
    {
      config,
      schema: {
        operationId: 'admin.readModels',
        summary: 'Model servers, their models, the default one, fallbacks and prices',
        tags,
        querystring,
        response: { 200: ModelSettings, ...refusals(401, 503) },
      },
    },
    () => models.settings.view(),
  )

  app.put(
    '/admin/models/servers/:server_id',
    {
      config: audited,
      schema: {
        operationId: 'admin.putModelServer',
        summary: 'Add or change a model server; its key is stored encrypted',
        tags,
        params,
        querystring,
        body: ModelServerRequest,
        response,
      },
    },
    ({ params: { server_id: serverId }, body }) => models.settings.putServer(serverId, body),
  )

  app.delete(
    '/admin/models/servers/:server_id',
    {
      config: audited,
      schema: {
        operationId: 'admin.deleteModelServer',
        summary: 'Remove a model server that was stored',
        tags,
        params,
        querystring,
        response: { ...response, ...refusals(404) },
      },
    },
    ({ params: { server_id: serverId } }) => models.settings.deleteServer(serverId),
  )

  app.put(
    '/admin/models/choices',
    {
      config: audited,
      schema: {
        operationId: 'admin.chooseModels',
        summary: 'Set the default model, fallbacks and prices',
        tags,
        querystring,
        body: ModelChoicesRequest,
        response,
      },
    },
    ({ body }) => models.settings.choose(body),
  )

  app.post(
    '/admin/models/look',
    {
      config: audited,
      schema: {
        operationId: 'admin.lookForModels',
        summary: 'Ask a server for its models; an address without `/v1` is tried with it, too',
        tags,
        querystring,
        body: LookForModelsRequest,
        response: { 200: ServedModels, ...refusals(401, 404, 502, 503) },
      },
    },
    async ({ body: { server_id: serverId, kind, base_url: baseUrl, api_key: apiKey } }) => {
      if ((serverId === undefined) === (baseUrl === undefined))
        throw invalidInput(['body', 'base_url'], 'give either server_id or base_url')
      const found = await models.listServed(
        serverId === undefined ? { kind, baseUrl: baseUrl ?? '', apiKey } : { serverId },
      )
      return {
        base_url: found.baseUrl,
        models: found.models.map(({ id, contextTokens }) => ({
          id,
          context_tokens: contextTokens ?? null,
          seems_to_chat: seemsToChat(id),
        })),
      }
    },
  )

  app.post(
    '/admin/models/servers/:server_id/try',
    {
      config: audited,
      schema: {
        operationId: 'admin.tryModel',
        summary: 'Find out by short questions what a model can do, and how fast',
        tags,
        params,
        querystring,
        body: TryModelRequest,
        response: { 200: ModelTrial, ...refusals(401, 404, 503) },
      },
    },
    ({ params: { server_id: serverId }, body }) => models.tryModel(serverId, body.model),
  )
}
