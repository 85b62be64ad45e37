import type { NativeKind } from '../../domain/provider-kinds.ts'
import type { ProviderMetadata } from '../../services/runs/chat-model.ts'
import { defaultBaseUrl } from './open-client.ts'
import type { CollectedMembers } from './collected-members.ts'

interface Asked {
  baseUrl: string | undefined
  model: string
}

/** The server and family of models to which metadata goes back: `api.deepseek.com/deepseek`. */
export function originOf({ baseUrl = defaultBaseUrl, model }: Asked): string {
  const name = model.toLowerCase().split('/').at(-1) ?? ''
  return `${new URL(baseUrl).host}/${/^[a-z]+/.exec(name)?.[0] ?? name}`
}

/** The names of models at Azure and Bedrock are not those of families. */
export function nativeOriginOf(kind: NativeKind, { baseUrl, model }: Asked & { baseUrl: string }): string {
  const isFamily = kind !== 'azure' && kind !== 'bedrock'
  return `${kind}:${isFamily ? originOf({ baseUrl, model }) : `${new URL(baseUrl).host}/${model}`}`
}

export function metadataOf(origin: string, members: CollectedMembers | undefined): ProviderMetadata | undefined {
  return members === undefined ? undefined : { origin, members: { ...members } }
}

/** What of a message's metadata goes back to this server. The service wrote it, and sealed it. */
export function membersFor(metadata: ProviderMetadata | undefined, origin: string): CollectedMembers | undefined {
  return metadata?.origin === origin ? metadata.members : undefined
}
