import { fileURLToPath } from 'node:url'
import type { DataConverter } from '@temporalio/common'
import type { Settings } from '../config.ts'
import { createPayloadCodec } from './payload-codec.ts'

type CodecSettings = Pick<Settings, 'temporalCodecKey'> & Partial<Pick<Settings, 'temporalCodecKeyPrevious'>>

export const failureConverterPath = fileURLToPath(new URL('failure-converter.ts', import.meta.url))

/**
 * The encoding of payloads; client, worker and replays must use the same one. Without a key they are not encrypted.
 */
export function dataConverterFor(settings: CodecSettings): DataConverter {
  const codec = codecFor(settings)
  return codec === undefined ? {} : { payloadCodecs: [codec], failureConverterPath }
}

export function codecFor({ temporalCodecKey, temporalCodecKeyPrevious = [] }: CodecSettings) {
  return temporalCodecKey === undefined
    ? undefined
    : createPayloadCodec([temporalCodecKey, ...temporalCodecKeyPrevious])
}
