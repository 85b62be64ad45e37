import { timingSafeEqual } from 'node:crypto'
import { type AssistantSettings, openMembersOf, readAssistantConfig } from '../../domain/assistant-config.ts'
import { cutText } from '../../domain/cut-text.ts'
import { newId } from '../../domain/ids.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { KeyedHashes, SecretBox } from '../secrets.ts'

export type AssistantConfigs = ReturnType<typeof createAssistantConfigs>

type StoredConfig = Pick<AssistantRecord, '_id' | 'sealed_config'>
type ListedConfig = Pick<AssistantRecord, 'open_config_json'>

/** Lists shorten descriptions to this many characters; a request for one assistant returns all of it. */
const listedDescriptionCharacters = 2000

/**
 * Converts configurations of assistants between memory and database. They are stored sealed and bound to their
 * assistant, because they contain tokens and keys at places that only the owner knows. All code that reads a stored
 * configuration uses this module.
 */
export function createAssistantConfigs(secretBox: SecretBox, tokenHashes: KeyedHashes) {
  const opened = new WeakMap<StoredConfig, AssistantSettings>()

  return {
    textOf,
    tokenHashes,

    /**
     * The effective settings of the assistant, with defaults. The config of a record is unsealed only once, however
     * often this is called.
     */
    settingsOf(assistant: StoredConfig): AssistantSettings {
      const known = opened.get(assistant) ?? readAssistantConfig(textOf(assistant))
      opened.set(assistant, known)
      return known
    },

    /** What a viewer may see of the config: the owner everything, others the public members. */
    shownTo(assistant: AssistantRecord, viewerId: string | undefined): Record<string, unknown> {
      const config = objectFromJsonText(textOf(assistant))
      return assistant.user_id === viewerId ? config : openMembersOf(config)
    },

    /** The public members as lists show them. Does not unseal the config. */
    listed: ({ open_config_json: text = '{}' }: ListedConfig): Record<string, unknown> => objectFromJsonText(text),

    /** The approximate size of the config, without unsealing it: base64 takes four bytes for three. */
    bytesOf: ({ sealed_config: sealed = '' }: StoredConfig): number => Math.ceil(sealed.length * 0.75),

    /** The stored members of a config, for a new record. */
    fieldsOf(assistantId: string, configJson: string) {
      const { accessMode, publicToken, allowedOrigins } = readAssistantConfig(configJson)
      return {
        sealed_config: secretBox.seal(configJson, contextOf(assistantId)),
        config_version: newId(),
        open_config_json: toJsonText(listedMembersOf(configJson)),
        access_mode: accessMode,
        allowed_origins: allowedOrigins,
        ...(publicToken === undefined ? {} : { public_token_hashes: [...tokenHashes(publicToken)] }),
      }
    },

    /** Whether the token is the assistant's. Compares in constant time. */
    containsToken({ public_token_hashes: expected = [] }: AssistantRecord, token: string): boolean {
      const given = tokenHashes(token)
      return expected.some((hash) => given.some((other) => areEqual(hash, other)))
    },

    isCurrent: secretBox.isCurrent,
  }

  /** The config as its owner wrote it. Throws if it cannot be unsealed with the keys of this service. */
  function textOf({ _id, sealed_config: sealed }: StoredConfig): string {
    if (sealed === undefined) throw new Error(`the stored assistant ${_id} has no configuration`)
    return secretBox.open(sealed, contextOf(_id))
  }
}

/** The update that replaces an earlier config in a stored record. */
export function configUpdate<Fields extends ReturnType<AssistantConfigs['fieldsOf']>>(fields: Fields) {
  return {
    $set: fields,
    ...('public_token_hashes' in fields ? {} : { $unset: { public_token_hashes: 1 } }),
  }
}

function contextOf(assistantId: string): string {
  return `assistant-config\n${assistantId}`
}

function listedMembersOf(configJson: string): Record<string, unknown> {
  const open = openMembersOf(objectFromJsonText(configJson))
  return Object.fromEntries(Object.entries(open).map(([key, value]) => [key, cut(value)]))
}

function cut(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= listedDescriptionCharacters) return value
  // Do not split a surrogate pair.
  return cutText(value, listedDescriptionCharacters)
}

function areEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
