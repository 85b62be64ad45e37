import { isJsonObject, parseOwnJson } from '../../../domain/json.ts'
import type { SecretBox } from '../../secrets.ts'

/** What a model thought, and what its provider must get back with it. */
export interface Thought {
  reasoning: string
  /** Sealed itself: `createProviderMetadataBox`. */
  provider_metadata?: string
}

/**
 * What clients keep for us and send back unread: what a model thought, and summaries. Each can be opened only in the
 * project for which it was sealed; undefined for what is foreign or damaged.
 */
export function createSealedItems({ seal, open }: Pick<SecretBox, 'seal' | 'open'>) {
  function opened(sealed: string, context: string): string | undefined {
    try {
      return open(sealed, context)
    } catch {
      return undefined
    }
  }

  return {
    sealThought: (projectId: string, thought: Thought): string =>
      seal(JSON.stringify(thought), `reasoning ${projectId}`),

    openThought(projectId: string, sealed: string): Thought | undefined {
      const text = opened(sealed, `reasoning ${projectId}`)
      const value = text === undefined ? undefined : parseOwnJson<unknown>(text)
      if (!isJsonObject(value) || typeof value['reasoning'] !== 'string') return undefined
      const { reasoning, provider_metadata: metadata } = value
      return { reasoning, ...(typeof metadata === 'string' ? { provider_metadata: metadata } : {}) }
    },

    sealSummary: (projectId: string, summary: string): string => seal(summary, `compaction ${projectId}`),

    openSummary: (projectId: string, sealed: string): string | undefined => opened(sealed, `compaction ${projectId}`),
  }
}
