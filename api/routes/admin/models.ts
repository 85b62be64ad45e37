import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { PathId, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import { ModelChoicesRequest, ModelServerRequest, ModelSettings } from './model-schemas.ts'

const querystring = Type.Object(AdminQuery)
const params = Type.Object({ server_id: PathId })
const audited = { ...config, audit: 'successes' } as const

/** `/admin/models`: which models assistants can use, at which servers. */
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
}
