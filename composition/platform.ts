import { isServed } from '../domain/model-catalog.ts'
import { createArchiveReader } from '../infra/archives/read-archive.ts'
import { createPaymentProvider } from '../infra/billing/stripe.ts'
import type { Settings } from '../infra/config.ts'
import { connectInfra } from '../infra/index.ts'
import type { Logger } from '../infra/logger.ts'
import { requireSchema } from '../infra/mongo/schema-version.ts'
import { codecTokenOf } from '../infra/temporal/codec-token.ts'
import { codecFor } from '../infra/temporal/data-converter.ts'
import { registerSearchAttributes } from '../infra/temporal/register-search-attributes.ts'
import { createAssistantFiles } from '../services/assistants/assistant-files.ts'
import { createAudit } from '../services/audit/index.ts'
import { createBilling } from '../services/billing/index.ts'
import { createBudgets } from '../services/budgets/index.ts'
import { createProjectUsage } from '../services/budgets/project-usage/store.ts'
import { restoresOf } from '../services/capabilities.ts'
import { createCodecService } from '../services/codec.ts'
import { createFolders } from '../services/folders/index.ts'
import { createIdempotency } from '../services/idempotency.ts'
import { createImports } from '../services/import/index.ts'
import { createMakers } from '../services/makers.ts'
import { createMcpHosts } from '../services/mcp/hosts.ts'
import { createMcpSessions } from '../services/mcp/sessions.ts'
import type { ModelsNow } from '../services/models/live-models.ts'
import { createRetention } from '../services/retention/index.ts'
import { createSessionHashes } from '../services/secrets.ts'
import { composeAccounts } from './accounts.ts'
import { composeAdministration } from './admin.ts'
import { type Core, composeCore } from './core.ts'
import { composeDeletion } from './deletion.ts'
import { composeKnowledge } from './knowledge.ts'
import { composeMembers } from './members.ts'
import { schemaVersionNeeded } from './migrations.ts'
import { composeRuns } from './runs.ts'
import { composeSchedules } from './schedules.ts'
import { composeSources } from './sources.ts'
import { composeV1 } from './v1.ts'

export type Platform = Awaited<ReturnType<typeof connectPlatform>>

/** The services that the API uses. */
export type Services = Platform['services']

/** Connects to all servers and creates all services. `close` ends the connections. */
export async function connectPlatform(
  settings: Settings,
  logger: Logger,
  options: Pick<NonNullable<Parameters<typeof connectInfra>[2]>, 'metrics'> = {},
) {
  const served: { models?: ModelsNow } = {}
  const infra = await connectInfra(settings, logger, {
    ...options,
    isServed: (model) => served.models !== undefined && isServed(served.models.current(), model),
  })
  await Promise.all([
    requireSchema(infra.database.connection, schemaVersionNeeded, {
      waitSeconds: settings.schemaWaitSeconds,
      onWait: (message) => logger.info(message),
    }),
    registerSearchAttributes(infra.temporal.client, settings.temporalNamespace),
  ])
  const core = composeCore(settings, infra, logger)
  served.models = core.models
  await core.models.start()
  const members = composeMembers(core)
  const accounts = composeAccounts(core, members)
  const knowledge = composeKnowledge(core)
  const runs = composeRuns(core)
  const schedules = composeSchedules(core, runs)
  const sources = composeSources(core, knowledge)
  const billing = composeBilling(core)
  const deletion = composeDeletion(core, billing)
  const administration = composeAdministration(core, { ...accounts, ...runs })
  const v1 = composeV1(core, { ...runs, ...deletion, ...knowledge })
  const { assistants, threads, createThread, tools } = core
  const folders = createFolders({ ...core, ...v1, projectFiles: v1.files })
  const audit = createAudit({ collections: core.collections, keepDays: settings.auditKeepDays })
  const idempotency = createIdempotency(core.collections, core.secretBox, core.requestHashes)
  const codec = createCodecService({
    codec: codecFor(settings),
    token: codecTokenOf(settings),
    uiOrigins: settings.temporalUiOrigins,
  })
  return {
    core,
    infra,
    knowledge,
    members,
    runs,
    deletion,
    schedules,
    sources,
    retention: createRetention({
      ...core,
      runs: runs.runs,
      blobs: infra.knowledge.blobs,
    }),
    services: {
      assistants,
      assistantFiles: createAssistantFiles(core),
      threads,
      documents: core.documents,
      folders,
      makers: createMakers(core.collections),
      projectUsage: createProjectUsage(core),
      createThread,
      tools,
      codec,
      idempotency,
      billing,
      administration,
      models: core.models,
      allowances: core.allowances,
      audit,
      imports: createImports({
        ...core,
        ...accounts,
        ...knowledge,
        vectorStores: v1.vectorStores,
        entries: v1.entries,
        restores: restoresOf({ folders, ...core, ...accounts, ...core.memory, ...schedules, ...sources }),
        projectFiles: v1.files,
        readArchive: createArchiveReader(),
      }),
      budgets: createBudgets(core),
      schedules: schedules.schedules,
      sources: sources.sources,
      scheduleMails: { ...core.derivedSecrets, ...schedules.schedules },
      v1,
      memories: core.memory.memories,
      mcpLogins: core.mcpLogins,
      mcpHosts: createMcpHosts({ ...core, ...runs, ...knowledge }),
      mcpSessions: createMcpSessions(createSessionHashes(settings.secretsKey, settings.secretsKeyPrevious)),
      ...accounts,
      members: members.members,
      handOver: members.handOver,
      groups: members.groups,
      scim: members.scim,
      ...knowledge,
      ...runs,
      ...deletion,
    },
    close: async () => {
      runs.runs.close()
      core.models.close()
      core.mailer.close()
      await runs.schemaChecker.close()
      await core.interpreter?.close()
      await knowledge.ingestion.extraction.close()
      await infra.close()
    },
  }
}

/** Plans that users buy at the payment provider. */
function composeBilling({ settings, collections, transaction }: Core) {
  return createBilling({ collections, transaction, provider: createPaymentProvider(settings), settings })
}
