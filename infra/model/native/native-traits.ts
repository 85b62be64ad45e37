import type { NativeKind } from '../../../domain/provider-kinds.ts'
import type { Trait } from '../dialects.ts'

const none: ReadonlySet<Trait> = new Set()
const plainNames: ReadonlySet<Trait> = new Set(['plain_names'])

/** How names of tools are written for a provider. */
export function nativeTraits(kind: NativeKind): ReadonlySet<Trait> {
  return kind === 'google' || kind === 'bedrock' ? plainNames : none
}
