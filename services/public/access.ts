import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../assistants/configs.ts'
import { ownAssistantStore } from '../assistants/store.ts'
import type { Collections } from '../collections.ts'
import { openAssistantStore } from './store.ts'

/**
 * Decides who may use an assistant without an account, by its access mode. `tokens` are all tokens that a request
 * carries; one matching token is enough. The database contains only keyed hashes of tokens.
 */
export function createPublicAccess(
  collections: Pick<Collections, 'assistants'>,
  configs: Pick<AssistantConfigs, 'holdsToken' | 'settingsOf' | 'tokenHashes'>,
) {
  const { findOfAny } = ownAssistantStore(collections)
  const { findByTokenOfAny } = openAssistantStore(collections)

  return {
    /** The assistant with that id if it has a public page; undefined in every other case. */
    async withPage(assistantId: string): Promise<AssistantRecord | undefined> {
      const assistant = await findOfAny(assistantId)
      if (assistant === null || assistant.suspended || assistant.access_mode === 'authenticated') return undefined
      return configs.settingsOf(assistant).publicPage ? assistant : undefined
    },

    /**
     * The assistant with that id. Throws `not_found`, `forbidden` while it is not public, `unauthenticated` without
     * its token.
     */
    async byId(assistantId: string, tokens: string[]): Promise<AssistantRecord> {
      const assistant = await findOfAny(assistantId)
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      if (assistant.suspended) throw new AppError('forbidden', 'This assistant is not available.')
      switch (assistant.access_mode) {
        case 'authenticated':
          throw new AppError('forbidden', 'This assistant is not open to the public.')
        case 'public_token':
          if (!tokens.some((token) => configs.holdsToken(assistant, token))) throw refused()
          return assistant
        case 'public_no_auth':
          return assistant
      }
    },

    /**
     * The assistant that a token selects. Throws `unauthenticated` in every other case, so that a caller cannot
     * learn which tokens exist.
     */
    async byToken(tokens: string[]): Promise<AssistantRecord> {
      for (const token of tokens) {
        const assistant = await findByTokenOfAny(configs.tokenHashes(token))
        if (assistant !== null && !assistant.suspended && assistant.access_mode !== 'authenticated') return assistant
      }
      throw refused()
    },
  }
}

function refused(): AppError {
  return new AppError('unauthenticated', 'The public token is missing or wrong.')
}
