import type { Collections } from './collections.ts'
import { createDerivedSecrets } from './accounts/derived-secrets.ts'
import { createHomeMembers } from './accounts/home-members.ts'
import { type AccountWorkflows, createAccounts } from './accounts/index.ts'
import { createAdminGate } from './auth/admin-gate.ts'
import { createSessions } from './auth/sessions.ts'
import { type TokenSettings, createTokens } from './auth/tokens.ts'
import { createAssistants } from './assistants/index.ts'
import { type PlatformModelSettings, createAccountOf } from './engine/model-account.ts'
import { createProjects } from './projects/index.ts'
import { type RunPorts, wireRuns } from './runs/wire-runs.ts'
import { createThreadCreation } from './threads/create-thread.ts'
import { createThreads } from './threads/index.ts'
import { createThreadLog } from './threads/log.ts'
import type { RunInTransaction } from './transactions.ts'

/** What services are given from outside: the database, and the ways to Temporal, Redis and the rest. */
export interface Ports extends RunPorts {
  settings: TokenSettings & PlatformModelSettings & { adminToken?: string | undefined; threadMaxDefault: number; secretsKey: Uint8Array }
  collections: Collections
  transaction: RunInTransaction
  accountWorkflows: AccountWorkflows
}

export type Services = Awaited<ReturnType<typeof createServices>>

/** All use cases that the API offers, wired once. */
export async function createServices({ settings, collections, transaction, accountWorkflows, ...ports }: Ports) {
  const tokens = await createTokens(settings)
  const createThread = createThreadCreation({ collections, transaction })
  const log = createThreadLog({ collections, transaction })
  const assistants = createAssistants({ collections, transaction })
  const threads = createThreads({ collections, createThread, log })
  return {
    tokens,
    sessions: createSessions({ collections, tokens, threadMaxDefault: settings.threadMaxDefault }),
    accounts: createAccounts({
      collections,
      tokens,
      secrets: createDerivedSecrets(settings.secretsKey),
      workflows: accountWorkflows,
      homeMembers: createHomeMembers({ collections, assistants, createThread }),
      threadMaxDefault: settings.threadMaxDefault,
    }),
    adminGate: createAdminGate(settings.adminToken),
    projects: createProjects({ collections, transaction }),
    assistants,
    threads,
    createThread,
    ...wireRuns({ ...ports, collections, transaction, log, assistants, threads, accountOf: createAccountOf(settings) }),
  }
}
