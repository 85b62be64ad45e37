import { isJsonObject, parseOwnJson } from '../../domain/json.ts'
import type { SecretBox } from '../secrets.ts'
import type { ProviderMetadata } from './chat-model.ts'

export type ProviderMetadataBox = ReturnType<typeof createProviderMetadataBox>

/** Not the id of a message: messages are copied into other threads, and imported under new ids. */
const sealContext = 'provider-metadata'

/** Seals what a provider must get back with a message, for storing it with the message. */
export function createProviderMetadataBox(secretBox: Pick<SecretBox, 'seal' | 'open'>) {
  return {
    seal: (metadata: ProviderMetadata): string => secretBox.seal(JSON.stringify(metadata), sealContext),
    /** Undefined for a text that was sealed elsewhere, as in an imported archive: the provider does without it. */
    open(sealed: string): ProviderMetadata | undefined {
      try {
        const value = parseOwnJson<ProviderMetadata>(secretBox.open(sealed, sealContext))
        return isJsonObject(value.members) ? value : undefined
      } catch {
        return undefined
      }
    },
  }
}
