import type { FastifyPluginAsync } from 'fastify'
import { v1Errors } from '../../plugins/compat-errors.ts'
import { type ErrorDeps, installErrors } from '../../plugins/errors.ts'
import { v1AssistantRoutes } from './assistants.ts'
import { v1ConversationRoutes } from './conversations.ts'
import { v1EmbeddingRoutes } from './embeddings.ts'
import { v1FileRoutes } from './files.ts'
import { v1ModelRoutes } from './models.ts'
import { v1ResponseRoutes } from './responses/index.ts'
import { v1StoreFileRoutes } from './store-files.ts'
import type { V1RunDeps } from './v1-route.ts'
import { v1VectorStoreRoutes } from './vector-stores.ts'

/** `/v1`: a project, for applications that were written for OpenAI's interface. */
export const v1Routes: FastifyPluginAsync<V1RunDeps & { errors: ErrorDeps }> = async (app, { errors, ...deps }) => {
  await app.register(
    async (v1) => {
      installErrors(v1, errors, v1Errors)
      await v1.register(v1ModelRoutes, deps)
      await v1.register(v1EmbeddingRoutes, deps)
      await v1.register(v1AssistantRoutes, deps)
      await v1.register(v1FileRoutes, deps)
      await v1.register(v1VectorStoreRoutes, deps)
      await v1.register(v1StoreFileRoutes, deps)
      await v1.register(v1ResponseRoutes, deps)
      await v1.register(v1ConversationRoutes, deps)
    },
    { prefix: '/v1' },
  )
}
