import { loginProviders } from '../domain/login-providers.ts'
import { createTokenVerifiers } from '../infra/identity/id-tokens.ts'
import { createSocialProvider } from '../infra/identity/social-provider.ts'
import { createHomeMembers } from '../services/accounts/home-members.ts'
import { createAccounts } from '../services/accounts/index.ts'
import { createAdminGate } from '../services/auth/admin-gate.ts'
import { createSessions } from '../services/auth/sessions.ts'
import { createTokens } from '../services/auth/tokens.ts'
import { createExports } from '../services/export/index.ts'
import { createPictures } from '../services/pictures/index.ts'
import { createProjects } from '../services/projects/index.ts'
import { createPrompts } from '../services/prompts/index.ts'
import type { Core } from './core.ts'
import type { composeMembers } from './members.ts'

/** Accounts, the tokens that identify callers, and their projects. */
export function composeAccounts(core: Core, { noteClaims }: Pick<ReturnType<typeof composeMembers>, 'noteClaims'>) {
  const { settings, workflows, collections, transaction, secretBox, assistants, createThread } = core
  const tokens = createTokens(settings)
  return {
    tokens,
    sessions: createSessions({ collections, tokens, threadMaxDefault: settings.threadMaxDefault }),
    adminGate: createAdminGate(settings.adminToken),
    scimGate: createAdminGate(settings.scimToken, 'token of provisioning'),
    projects: createProjects({ collections, transaction }),
    pictures: createPictures(core.downloads),
    prompts: createPrompts({ collections, transaction }),
    exports: createExports({
      collections,
      assistantConfigs: core.assistantConfigs,
      blobs: core.infra.knowledge.blobs,
      secrets: core.derivedSecrets,
      secretBox,
      settings,
    }),
    accounts: createAccounts({
      collections,
      transaction,
      tokens,
      secrets: core.derivedSecrets,
      workflows,
      homeMembers: createHomeMembers({ collections, assistants, createThread }),
      identity: {
        providers: loginProviders(settings.loginProviders),
        connect: (provider) => createSocialProvider(provider, settings),
        ...createTokenVerifiers(),
      },
      noteClaims,
      secretBox,
      models: core.models,
      embeddingModel: core.embeddingModel,
      settings,
    }),
  }
}
