import type { Collections } from './collections.ts'
import { createDerivedSecrets } from './accounts/derived-secrets.ts'
import { createHomeMembers } from './accounts/home-members.ts'
import type { ExchangeSettings } from './accounts/exchange.ts'
import { type AccountWorkflows, type IdentityPorts, createAccounts } from './accounts/index.ts'
import { createAdminGate } from './auth/admin-gate.ts'
import { createSessions } from './auth/sessions.ts'
import { type TokenSettings, createTokens } from './auth/tokens.ts'
import { createCompatAccounts } from './assistants/compat-accounts.ts'
import { createAssistants } from './assistants/index.ts'
import { type PlatformModelSettings, createAccountOf } from './engine/model-account.ts'
import { type KnowledgePorts, createRetrieval, wireKnowledge } from './knowledge/index.ts'
import type { IngestionWorkflows } from './knowledge/ingestion-workflows.ts'
import { type FeedbackWorkflows, createFeedback } from './feedback/index.ts'
import type { Outbound } from './outbound.ts'
import type { DeletionWorkflows } from './deletion/deletion-workflows.ts'
import type { CleanupWorkflows } from './admin/cleanup-workflows.ts'
import { createAdmin } from './admin/index.ts'
import { type CodecPorts, createCodecService } from './codec.ts'
import { createDeletionRequests } from './deletion/requests.ts'
import { createPublicFamily } from './public/index.ts'
import { createProjects } from './projects/index.ts'
import { createDescribeAssistant } from './runs/describe-assistant.ts'
import { type RunPorts, wireRuns } from './runs/wire-runs.ts'
import { createSecretBox } from './secrets.ts'
import { createThreadCreation } from './threads/create-thread.ts'
import { createThreads } from './threads/index.ts'
import { createThreadLog } from './threads/log.ts'
import { createTools } from './tools/index.ts'
import type { WebSearchSettings } from './tools/web-search.ts'
import type { RunInTransaction } from './transactions.ts'

/** What services are given from outside: the database, and the ways to Temporal, Redis and the rest. */
export interface Ports extends RunPorts {
  settings: TokenSettings &
    PlatformModelSettings &
    ExchangeSettings &
    WebSearchSettings & {
      adminToken?: string | undefined
      frontendUrl: string
      threadMaxDefault: number
      secretsKey: Uint8Array
      secretsKeyPrevious: Uint8Array[]
      defaultModel: string
      baseUrl: string
      corsOrigins: string[]
    }
  collections: Collections
  transaction: RunInTransaction
  outbound: Outbound
  accountWorkflows: AccountWorkflows
  identity: IdentityPorts
  feedbackWorkflows: FeedbackWorkflows
  /** Whether the settings name a tracing service that takes feedback. */
  hasFeedbackReceiver: boolean
  deletionWorkflows: DeletionWorkflows
  codec: CodecPorts
  cleanupWorkflows: CleanupWorkflows
  knowledge: KnowledgePorts
  ingestionWorkflows: IngestionWorkflows
}

export type Services = Awaited<ReturnType<typeof createServices>>

/** All use cases that the API offers, wired once. */
export async function createServices({
  settings,
  collections,
  transaction,
  outbound,
  accountWorkflows,
  identity,
  feedbackWorkflows,
  hasFeedbackReceiver,
  knowledge,
  ingestionWorkflows,
  ...ports
}: Ports) {
  const secretBox = createSecretBox(settings.secretsKey, settings.secretsKeyPrevious)
  const tokens = createTokens(settings)
  const createThread = createThreadCreation({ collections, transaction })
  const log = createThreadLog({ collections, transaction })
  const assistants = createAssistants({ collections, transaction })
  const threads = createThreads({ collections, createThread, log })
  const accountOf = createAccountOf(settings, secretBox)
  const tools = createTools({ outbound, search: settings, retrieval: createRetrieval(collections, knowledge) })
  const running = wireRuns({
    ...ports,
    collections,
    transaction,
    log,
    assistants,
    threads,
    accountOf,
  })
  return {
    tokens,
    sessions: createSessions({ collections, tokens, threadMaxDefault: settings.threadMaxDefault }),
    accounts: createAccounts({
      collections,
      transaction,
      tokens,
      secrets: createDerivedSecrets(settings.secretsKey),
      workflows: accountWorkflows,
      homeMembers: createHomeMembers({ collections, assistants, createThread }),
      identity,
      secretBox,
      settings,
    }),
    adminGate: createAdminGate(settings.adminToken),
    projects: createProjects({ collections, transaction }),
    assistants,
    compatAccounts: createCompatAccounts({ collections, assistants, outbound, secretBox }),
    tools,
    describeAssistant: createDescribeAssistant({ tools, accountOf, defaultModel: settings.defaultModel }),
    threads,
    createThread,
    admin: createAdmin({ collections, workflows: ports.cleanupWorkflows }),
    codec: createCodecService(ports.codec),
    deletions: createDeletionRequests({ collections, workflows: ports.deletionWorkflows }),
    ...wireKnowledge({ collections, knowledge, ingestionWorkflows }),
    ...running,
    publicFamily: createPublicFamily({ collections, createThread, log, ...running, settings }),
    feedback: createFeedback({
      collections,
      transaction,
      runs: running.runs,
      workflows: feedbackWorkflows,
      hasReceiver: hasFeedbackReceiver,
    }),
  }
}
