import type { Settings } from '../infra/config.ts'
import { connectInfra } from '../infra/index.ts'
import { createIdTokenVerifier } from '../infra/identity/id-tokens.ts'
import { createSocialProvider } from '../infra/identity/social-provider.ts'
import { createSmtpMailer } from '../infra/mail/smtp-mailer.ts'
import { accountWorkflows } from '../infra/temporal/account-workflows.ts'
import { hasLangSmith } from '../infra/feedback/langsmith.ts'
import { feedbackWorkflows } from '../infra/temporal/feedback-workflows.ts'
import { ingestionWorkflows } from '../infra/temporal/ingestion-workflows.ts'
import { codecFor, codecTokenOf } from '../infra/temporal/data-converter.ts'
import { createCleanupWorkflows } from '../infra/temporal/cleanup-workflows.ts'
import { createDeletionWorkflows } from '../infra/temporal/deletion-workflows.ts'
import { registerSearchAttributes } from '../infra/temporal/register-search-attributes.ts'
import { createModelProbe } from '../infra/model/probe.ts'
import { createRunStream } from '../infra/redis/run-stream.ts'
import { createThreadActor } from '../infra/temporal/thread-actor.ts'
import type { Logger } from '../infra/logger.ts'
import { createHealth } from '../services/health.ts'
import { createServices } from '../services/index.ts'
import { buildApp } from './app.ts'

const version = '1.0.0'

/** Settings → infra → services → app → listen. Used by the process entry and by tests. */
export async function startApi(settings: Settings & { checkResponses?: boolean }, logger: Logger) {
  const infra = await connectInfra(settings, logger)
  await registerSearchAttributes(infra.temporal.client, settings.temporalNamespace)
  const services = await createServices({
    settings,
    collections: infra.database.collections,
    transaction: infra.database.transaction,
    outbound: infra.outbound,
    tracing: infra.tracing,
    cleanupWorkflows: createCleanupWorkflows(infra.temporal.client, {
      taskQueuePrefix: settings.taskQueuePrefix,
      waitMs: settings.deletionWaitSeconds * 1000,
    }),
    codec: { codec: codecFor(settings), token: codecTokenOf(settings), uiOrigins: settings.temporalUiOrigins },
    deletionWorkflows: createDeletionWorkflows(infra.temporal.client, {
      taskQueuePrefix: settings.taskQueuePrefix,
      waitMs: settings.deletionWaitSeconds * 1000,
    }),
    feedbackWorkflows: feedbackWorkflows(infra.temporal.client, settings.taskQueuePrefix),
    hasFeedbackReceiver: hasLangSmith(settings),
    accountWorkflows: accountWorkflows(infra.temporal.client, settings.taskQueuePrefix),
    identity: { socialProvider: createSocialProvider(settings), verifyIdToken: createIdTokenVerifier() },
    knowledge: infra.knowledge,
    ingestionWorkflows: ingestionWorkflows(infra.temporal.client, settings.taskQueuePrefix),
    runStream: createRunStream(infra.redis),
    threadActor: createThreadActor(infra.temporal.client, settings.taskQueuePrefix),
    onError: (error) => logger.warn({ err: error }, 'a run stream is in trouble'),
  })
  const mailer = createSmtpMailer(settings)
  const health = createHealth(
    [
      { name: 'mongodb', check: infra.database.ping },
      { name: 'redis', check: infra.redis.ping },
      { name: 'temporal', check: infra.temporal.ping },
      { name: 'mail', check: mailer.ping },
      { name: 'model', check: createModelProbe(settings) },
      { name: 'vectors', check: async () => infra.knowledge.vectors.ping().then(() => infra.knowledge.vectors.name) },
    ],
    version,
  )
  const app = await buildApp({ settings, logger, services, health, tracing: infra.tracing })
  const address = await app.listen({ port: settings.port, host: settings.host })
  return {
    app,
    address,
    infra,
    services,
    close: async () => {
      await app.close()
      services.runFeeds.close()
      mailer.close()
      await infra.close()
    },
  }
}
