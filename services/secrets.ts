import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

export type SecretBox = ReturnType<typeof createSecretBox>

/**
 * Encrypts secrets of users before they are stored: AES-256-GCM (NIST SP 800-38D) under a key derived from
 * `SECRETS_KEY` by HKDF. A sealed text is `v1.{key id}.{nonce, ciphertext, tag in base64url}`. `context` says where
 * the text belongs (for example the record's id): it can be unsealed only there. Texts sealed under a previous key
 * can still be unsealed.
 */
export function createSecretBox(secretsKey: Uint8Array, previousKeys: Uint8Array[] = []) {
  const current = derive(secretsKey)
  const keys = new Map([...previousKeys.map(derive), current].map((key) => [key.id, key.bytes]))

  return {
    seal(text: string, context: string): string {
      return `v1.${current.id}.${encrypt(current.bytes, Buffer.from(text), context).toString('base64url')}`
    },

    /** Throws if the text was changed, belongs elsewhere, or its key is not among ours. */
    open(sealed: string, context: string): string {
      const [version, keyId, body] = sealed.split('.')
      const key = keys.get(keyId ?? '')
      if (version !== 'v1' || key === undefined || body === undefined) throw new Error('sealed under an unknown key')
      return decrypt(key, Buffer.from(body, 'base64url'), context).toString('utf8')
    },

    /** Whether a text is sealed under the current key; otherwise it should be sealed again. */
    isCurrent: (sealed: string): boolean => sealed.startsWith(`v1.${current.id}.`),
  }
}

function encrypt(key: Buffer, bytes: Uint8Array, context: string): Buffer {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context))
  return Buffer.concat([nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
}

function decrypt(key: Buffer, bytes: Buffer, context: string): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
  decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}

/** One hash for each key, the current key's first. */
export type KeyedHashes = (text: string) => [current: string, ...previous: string[]]

/** Finds a public token in the database, which does not contain it. */
export function createTokenHashes(secretsKey: Uint8Array, previousKeys: Uint8Array[] = []): KeyedHashes {
  return createKeyedHashes('public-tokens', secretsKey, previousKeys)
}

/** Recognises the request that an idempotency key was used for, of which the database contains nothing. */
export function createRequestHashes(secretsKey: Uint8Array, previousKeys: Uint8Array[] = []): KeyedHashes {
  return createKeyedHashes('idempotent-requests', secretsKey, previousKeys)
}

/** Recognises the ids of sessions that this service has begun, of which nothing is stored. */
export function createSessionHashes(secretsKey: Uint8Array, previousKeys: Uint8Array[] = []): KeyedHashes {
  return createKeyedHashes('mcp-sessions', secretsKey, previousKeys)
}

/**
 * HMAC-SHA-256 under a key derived from `SECRETS_KEY` for one purpose, so that even a text that is easy to guess cannot
 * be guessed from the database alone.
 */
function createKeyedHashes(purpose: string, secretsKey: Uint8Array, previousKeys: Uint8Array[]): KeyedHashes {
  const keys = [secretsKey, ...previousKeys].map((key) => Buffer.from(hkdfSync('sha256', key, '', purpose, 32)))
  return (text): [current: string, ...previous: string[]] => {
    const [current = '', ...previous] = new Set(
      keys.map((key) => createHmac('sha256', key).update(text).digest('base64url')),
    )
    return [current, ...previous]
  }
}

function derive(secret: Uint8Array): { id: string; bytes: Buffer } {
  const bytes = Buffer.from(hkdfSync('sha256', secret, '', 'stored-secrets', 32))
  return { bytes, id: createHash('sha256').update(bytes).digest('hex').slice(0, 8) }
}

/** The first characters of a key, at most six and at most a quarter of it. */
export function hintOf(key: string): string {
  return key.slice(0, Math.min(6, Math.floor(key.length / 4)))
}
