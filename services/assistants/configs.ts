import { timingSafeEqual } from 'node:crypto'
import { type AssistantSettings, openMembersOf, readAssistantConfig } from '../../domain/assistant-config.ts'
import { newId } from '../../domain/ids.ts'
import { objectFromJsonText, toJsonText } from '../../domain/json-text.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { SecretBox, TokenHashes } from '../secrets.ts'

export type AssistantConfigs = ReturnType<typeof createAssistantConfigs>

type StoredConfig = Pick<AssistantRecord, '_id' | 'sealed_config' | 'config_json'>
type ListedConfig = Pick<AssistantRecord, 'open_config_json' | 'config_json'>

/** Lists cut descriptions after so many characters; who reads one assistant sees all of it. */
const listedDescriptionCharacters = 2000

/**
 * The configurations of assistants between memory and database. They are stored sealed, bound to their assistant:
 * they hold tokens and keys in places that only their owner knows. Everything else that reads a stored
 * configuration asks here.
 */
export function createAssistantConfigs(secretBox: SecretBox, tokenHashes: TokenHashes) {
  return {
    textOf,
    tokenHashes,

    /** What holds for the assistant, defaults filled in. */
    settingsOf: (assistant: StoredConfig): AssistantSettings => readAssistantConfig(textOf(assistant)),

    /** What a viewer may see of the config: the owner all of it, others the open members. */
    shownTo(assistant: AssistantRecord, viewerId: string | undefined): Record<string, unknown> {
      const config = objectFromJsonText(textOf(assistant))
      return assistant.user_id === viewerId ? config : openMembersOf(config)
    },

    /** The open members as lists show them. Opens nothing. */
    listed: ({ open_config_json: text, config_json: clear = '{}' }: ListedConfig): Record<string, unknown> =>
      text === undefined ? listedMembersOf(clear) : objectFromJsonText(text),

    /** About how large the config is, without opening it: base64 takes four bytes for three. */
    bytesOf: ({ sealed_config: sealed = '', config_json: clear = '' }: StoredConfig): number =>
      Math.ceil(sealed.length * 0.75) + Buffer.byteLength(clear),

    /** The stored members that follow from a config, for a new record. */
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

    /** Whether the token is the assistant's. The time taken does not depend on how much of a guess is right. */
    holdsToken({ public_token_hashes: stored, public_token: clear }: AssistantRecord, token: string): boolean {
      const expected = stored ?? (clear === undefined ? [] : tokenHashes(clear))
      const given = tokenHashes(token)
      return expected.some((hash) => given.some((other) => areEqual(hash, other)))
    },

    isCurrent: secretBox.isCurrent,
  }

  /** The config as its owner wrote it. Throws when it cannot be opened with the keys of this service. */
  function textOf({ _id, sealed_config: sealed, config_json: clear }: StoredConfig): string {
    // Where both are there, an earlier version of the service wrote last: this one takes the clear text away.
    if (clear !== undefined) return clear
    if (sealed === undefined) throw new Error(`the stored assistant ${_id} has no configuration`)
    return secretBox.open(sealed, contextOf(_id))
  }
}

/** What takes the place of an earlier config in a stored record. */
export function configUpdate(fields: ReturnType<AssistantConfigs['fieldsOf']>) {
  return {
    $set: fields,
    $unset: { config_json: 1, public_token: 1, ...('public_token_hashes' in fields ? {} : { public_token_hashes: 1 }) },
  }
}

/** The condition that nobody has written the config since the record was read. */
export function configUnchanged({ _id, config_version: version, config_json: clear, updated_at }: AssistantRecord) {
  if (clear === undefined) return { _id, config_version: version, config_json: { $exists: false } }
  // Earlier versions of the service write no version.
  return { _id, config_json: { $exists: true }, updated_at }
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
  // Not between the halves of a surrogate pair.
  return value.slice(0, listedDescriptionCharacters).replace(/[\uD800-\uDBFF]$/, '')
}

function areEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)]
  return left.length === right.length && timingSafeEqual(left, right)
}
