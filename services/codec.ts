import { AppError } from '../domain/errors.ts'
import { type AdminGate, createAdminGate } from './auth/admin-gate.ts'

/** A payload in the JSON form of Temporal's protobuf: bytes are base64. */
export interface JsonPayload {
  metadata?: Record<string, string>
  data?: string
}

interface Bytes {
  metadata?: Record<string, Uint8Array> | null
  data?: Uint8Array | null
}

/** Encrypts payloads before Temporal stores them, and decrypts them. */
interface PayloadCodecPort {
  encode(payloads: Bytes[]): Promise<Bytes[]>
  decode(payloads: Bytes[]): Promise<Bytes[]>
}

interface CodecPorts {
  /** Undefined if payloads are not encrypted. */
  codec: PayloadCodecPort | undefined
  token: string | undefined
  /** Origins of the Temporal UI. */
  uiOrigins: string[]
}

/** The remote codec for the Temporal UI and CLI, protected by its own token. */
export function createCodecService({ codec, token, uiOrigins }: CodecPorts) {
  const gate: AdminGate = createAdminGate(codec === undefined ? undefined : token)
  return {
    uiOrigins,

    /** Throws `unauthenticated` without the token. */
    admit(given: string | undefined): void {
      try {
        gate.check(given)
      } catch (cause) {
        throw new AppError('unauthenticated', 'The token of the codec endpoint is missing or wrong.', { cause })
      }
    },

    async convert(direction: 'encode' | 'decode', payloads: JsonPayload[]): Promise<JsonPayload[]> {
      if (codec === undefined) throw new AppError('not_found', 'Payloads are not encrypted here.')
      const converted = await codec[direction](payloads.map(fromJson)).catch((cause: unknown) => {
        throw new AppError('bad_request', 'These payloads cannot be decrypted with the keys of this service.', {
          cause,
        })
      })
      return converted.map(toJson)
    },
  }
}

function fromJson({ metadata = {}, data = '' }: JsonPayload): Bytes {
  const decoded = Object.entries(metadata).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const)
  return { metadata: Object.fromEntries(decoded), data: Buffer.from(data, 'base64') }
}

function toJson({ metadata, data }: Bytes): JsonPayload {
  const encoded = Object.entries(metadata ?? {}).map(
    ([key, value]) => [key, Buffer.from(value).toString('base64')] as const,
  )
  return { metadata: Object.fromEntries(encoded), data: Buffer.from(data ?? []).toString('base64') }
}
