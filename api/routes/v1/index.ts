import type { FastifyPluginAsync } from 'fastify'
import { v1Errors } from '../../plugins/compat-errors.ts'
import { type ErrorDeps, installErrors } from '../../plugins/errors.ts'
import { prepareGiven } from '../../plugins/given-members.ts'
import type { UnreadAnswers } from '../../plugins/unread-answers.ts'
import { installValidation } from '../../plugins/validation.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'
import { v1AssistantRoutes } from './assistants.ts'
import { v1AudioRoutes } from './audio.ts'
import { v1ChatRoutes, v1CompletionRoutes } from './chat.ts'
import { v1ContainerRoutes } from './containers.ts'
import { v1ConversationRoutes } from './conversations.ts'
import { v1EmbeddingRoutes } from './embeddings.ts'
import { v1FileRoutes } from './files.ts'
import { v1MessageRoutes } from './messages.ts'
import { v1ModelRoutes } from './models.ts'
import { v1CompactRoutes } from './responses/compact.ts'
import { v1ResponseRoutes } from './responses/index.ts'
import { v1ResponseSocketRoutes } from './responses/socket.ts'
import { v1RunRoutes } from './runs.ts'
import { v1StoreFileRoutes } from './store-files.ts'
import { v1StoredCompletionRoutes } from './stored-completions.ts'
import { v1ThreadRoutes } from './threads.ts'
import { v1UploadRoutes } from './uploads.ts'
import type { V1Deps } from './v1-route.ts'
import { v1VectorStoreRoutes } from './vector-stores.ts'
import { withoutEffect } from './without-effect.ts'

/** `/v1`: a project, for applications that were written for OpenAI's interface. */
export const v1Routes: FastifyPluginAsync<
  V1Deps & { errors: ErrorDeps; openStreams: OpenStreams; unread: UnreadAnswers }
> = async (app, { errors, openStreams, unread, ...deps }) => {
  await app.register(
    async (v1) => {
      installErrors(v1, errors, v1Errors)
      installValidation(v1, (schema, body) => prepareGiven(schema, body, withoutEffect))
      await v1.register(v1ModelRoutes, deps)
      await v1.register(v1EmbeddingRoutes, deps)
      await v1.register(v1AudioRoutes, deps)
      await v1.register(v1ChatRoutes, { ...deps, openStreams })
      await v1.register(v1CompletionRoutes, { ...deps, openStreams })
      await v1.register(v1StoredCompletionRoutes, deps)
      await v1.register(v1AssistantRoutes, deps)
      await v1.register(v1ThreadRoutes, deps)
      await v1.register(v1MessageRoutes, deps)
      await v1.register(v1RunRoutes, { ...deps, openStreams })
      await v1.register(v1FileRoutes, deps)
      await v1.register(v1UploadRoutes, deps)
      await v1.register(v1VectorStoreRoutes, deps)
      await v1.register(v1StoreFileRoutes, deps)
      await v1.register(v1ResponseRoutes, { ...deps, openStreams })
      await v1.register(v1ResponseSocketRoutes, { ...deps, openStreams, unread })
      await v1.register(v1CompactRoutes, { ...deps, openStreams })
      await v1.register(v1ConversationRoutes, deps)
      await v1.register(v1ContainerRoutes, deps)
    },
    { prefix: '/v1' },
  )
}
