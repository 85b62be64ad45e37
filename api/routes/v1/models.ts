import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { NamedModel } from '../../../services/v1/models.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { CompatModel, CompatModelList } from '../public/model-schemas.ts'
import { secondsOf } from '../public/thread-shapes.ts'
import { type V1Deps, operation, v1Config, v1Refusals } from './v1-route.ts'

/** `models`: the assistants of the project, and the models of the settings. */
export const v1ModelRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { models } }) => {
  app.get(
    '/models',
    {
      config: v1Config,
      schema: {
        ...operation(
          'models.list',
          'The assistants of the project and the models of the settings',
          'The 1,000 newest assistants, each under its id, then the models. `created` of a model is 0.',
        ),
        response: { 200: CompatModelList, ...v1Refusals() },
      },
    },
    async (request) => ({ object: 'list' as const, data: (await models.list(callerOf(request))).map(modelShape) }),
  )

  app.get(
    '/models/:model',
    {
      config: v1Config,
      schema: {
        ...operation('models.read', 'Read an assistant or a model of the settings as a model'),
        params: Type.Object({ model: Type.String({ minLength: 1, maxLength: 500 }) }),
        response: { 200: CompatModel, ...v1Refusals(404) },
      },
    },
    async (request) => modelShape(await models.find(callerOf(request), request.params.model)),
  )
}

function modelShape({ id, createdAt, ownedBy }: NamedModel): Static<typeof CompatModel> {
  return { id, object: 'model', created: createdAt === undefined ? 0 : secondsOf(createdAt), owned_by: ownedBy }
}
