import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'
import { openAssistantStore } from './store.ts'

export interface OriginSettings {
  baseUrl: string
  corsOrigins: string[]
}

export type PublicOrigins = ReturnType<typeof createPublicOrigins>

/** The origins whose pages may call the public endpoints from a browser. */
export function createPublicOrigins(collections: Pick<Collections, 'assistants'>, settings: OriginSettings) {
  const everywhere = new Set([...settings.corsOrigins, new URL(settings.baseUrl).origin])

  return {
    /** Whether any assistant allows this origin. Before the token is read, no more can be checked. */
    async isKnown(origin: string): Promise<boolean> {
      return everywhere.has(origin) || openAssistantStore(collections).isOriginKnownOfAny(origin)
    },

    /**
     * Whether a page of that origin may read the answers of this assistant. Throws `forbidden` if the assistant
     * lists origins and this is not one of them, so that no run is started at the owner's expense.
     */
    admits(assistant: AssistantRecord, origin: string): boolean {
      if (everywhere.has(origin) || assistant.allowed_origins.includes(origin)) return true
      if (assistant.allowed_origins.length === 0) return false
      throw new AppError('forbidden', 'This assistant may not be called from this origin.')
    },
  }
}
