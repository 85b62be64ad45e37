import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import type { Settings } from '../config.ts'

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

// The package is CommonJS: its names cannot be imported one by one from an ES module.
const PayloadMessage = proto.temporal.api.common.v1.Payload

const encoding = Buffer.from('binary/encrypted')
const cipherName = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/**
 * Encrypts every payload with AES-256-GCM (NIST SP 800-38D). The data of an encrypted payload is a random nonce of
 * 12 bytes, the tag of 16, and the encrypted protobuf of the whole payload, metadata included; the key's id is
 * authenticated with it. `keys` are 32 bytes each: the first one encrypts, all of them decrypt. `decode` returns
 * unencrypted payloads unchanged, so that a key can be introduced while workflows run.
 */
export function createPayloadCodec(keys: [Buffer, ...Buffer[]]): PayloadCodec {
  const [newest] = keys
  const byId = new Map(keys.map((key) => [keyIdOf(key), key]))
  const newestId = keyIdOf(newest)

  return {
    encode: async (payloads) => payloads.map((payload) => encrypt(payload, newest, newestId)),
    decode: async (payloads) =>
      payloads.map((payload) => {
        if (!isEncrypted(payload)) return payload
        const id = Buffer.from(payload.metadata?.['encryption-key-id'] ?? []).toString()
        const key = byId.get(id)
        if (key === undefined) throw new Error(`a payload is encrypted with a key that is not configured (id ${id})`)
        return decrypt(payload, key, id)
      }),
  }
}

/** Identifies a key without revealing anything about it. */
export function keyIdOf(key: Buffer): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 16)
}

function isEncrypted(payload: Payload): boolean {
  return encoding.equals(Buffer.from(payload.metadata?.['encoding'] ?? []))
}

function encrypt(payload: Payload, key: Buffer, keyId: string): Payload {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes }).setAAD(Buffer.from(keyId))
  const text = Buffer.concat([cipher.update(PayloadMessage.encode(payload).finish()), cipher.final()])
  return {
    metadata: { encoding, 'encryption-key-id': Buffer.from(keyId) },
    data: Buffer.concat([nonce, cipher.getAuthTag(), text]),
  }
}

function decrypt(payload: Payload, key: Buffer, keyId: string): Payload {
  const data = Buffer.from(payload.data ?? [])
  const decipher = createDecipheriv(cipherName, key, data.subarray(0, nonceBytes), { authTagLength: tagBytes })
    .setAAD(Buffer.from(keyId))
    .setAuthTag(data.subarray(nonceBytes, nonceBytes + tagBytes))
  const text = Buffer.concat([decipher.update(data.subarray(nonceBytes + tagBytes)), decipher.final()])
  const { metadata, data: content } = PayloadMessage.decode(text)
  return { metadata, data: content }
}
