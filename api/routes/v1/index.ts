import type { FastifyPluginAsync } from 'fastify'
import { v1Errors } from '../../plugins/compat-errors.ts'
import { type ErrorDeps, installErrors } from '../../plugins/errors.ts'
import { v1AssistantRoutes } from './assistants.ts'
import { v1EmbeddingRoutes } from './embeddings.ts'
import { v1ModelRoutes } from './models.ts'
import type { V1Deps } from './v1-route.ts'

/** `/v1`: a project, for applications that were written for OpenAI's interface. */
export const v1Routes: FastifyPluginAsync<V1Deps & { errors: ErrorDeps }> = async (app, { errors, ...deps }) => {
  await app.register(
    async (v1) => {
      installErrors(v1, errors, v1Errors)
      await v1.register(v1ModelRoutes, deps)
      await v1.register(v1EmbeddingRoutes, deps)
      await v1.register(v1AssistantRoutes, deps)
    },
    { prefix: '/v1' },
  )
}
