import { passwordResetWorkflowId } from '../domain/contracts/password-reset.ts'
import { emailVerificationWorkflowId } from '../domain/contracts/email-verification.ts'
import type { Infra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import { createRunStream } from '../infra/redis/run-stream.ts'
import { createThreadActor } from '../infra/temporal/thread-actor.ts'
import { createWorkflowControl } from '../infra/temporal/workflow-control.ts'
import { createDeletion } from '../services/deletion/index.ts'
import { createStores } from '../services/deletion/stores.ts'

/** What deletions work with, in this process. */
export function createDeletionService(infra: Infra, { taskQueuePrefix }: { taskQueuePrefix: string }, logger: Logger) {
  const { collections, transaction } = infra.database
  const { client } = infra.temporal
  const stream = createRunStream(infra.redis)
  return createDeletion({
    collections,
    transaction,
    stream,
    stores: createStores({ collections, transaction, stream, knowledge: { collections, ...infra.knowledge } }),
    actor: createThreadActor(client, taskQueuePrefix),
    control: createWorkflowControl(client),
    accountWorkflowIds: (userId) => [emailVerificationWorkflowId(userId), passwordResetWorkflowId(userId)],
    tracing: infra.tracing,
    onError: (error) => logger.warn({ err: error }, 'a run stream is in trouble'),
  })
}
