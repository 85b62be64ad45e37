import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { NamedModel } from '../../../services/v1/models.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { secondsOf } from '../public/compat-objects.ts'
import { CompatModel, CompatModelList } from '../public/model-schemas.ts'
import { type V1Deps, operation, v1Config, v1Refusals } from './v1-route.ts'

const word = Type.String({ minLength: 1, maxLength: 500 })

/** `models`: the assistants of the project, the models of the settings, and those of their server. */
export const v1ModelRoutes: FastifyPluginAsyncTypebox<Pick<V1Deps, 'v1'>> = async (app, { v1: { models } }) => {
  app.get(
    '/models',
    {
      config: v1Config,
      schema: {
        ...operation(
          'models.list',
          'The assistants of the project and the models of the settings',
          'The 1,000 newest assistants, each under its id, then the models of the settings, then those that the server of `OPENAI_BASE_URL` lists. `created` of a model is 0.',
        ),
        response: { 200: CompatModelList, ...v1Refusals() },
      },
    },
    async (request) => ({ object: 'list' as const, data: (await models.list(callerOf(request))).map(toModel) }),
  )

  // Names of models have slashes, which clients escape or not.
  for (const [url, hide] of [
    ['/models/:model', false],
    ['/models/:owner/*', true],
  ] as const) {
    app.get(
      url,
      {
        config: v1Config,
        schema: {
          ...operation('models.read', 'Read an assistant or a model as a model'),
          hide,
          params: hide ? Type.Object({ owner: word, '*': word }) : Type.Object({ model: word }),
          response: { 200: CompatModel, ...v1Refusals(404) },
        },
      },
      async (request) => toModel(await models.find(callerOf(request), nameOf(request.params))),
    )
  }
}

function toModel({ id, createdAt, ownedBy }: NamedModel): Static<typeof CompatModel> {
  return { id, object: 'model', created: createdAt === undefined ? 0 : secondsOf(createdAt), owned_by: ownedBy }
}

function nameOf(params: { model: string } | { owner: string; '*': string }): string {
  return 'model' in params ? params.model : `${params.owner}/${params['*']}`
}
