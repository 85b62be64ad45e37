import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const makers = {
  SECRETS_KEY: () => randomBytes(32).toString('base64'),
  TEMPORAL_CODEC_KEY: () => randomBytes(32).toString('base64'),
  JWT_SECRET: () => randomBytes(48).toString('base64url'),
  ADMIN_TOKEN: () => randomBytes(24).toString('base64url'),
}

export type SecretName = keyof typeof makers

/**
 * Creates the secrets that the service needs and the environment does not set. Each is created once and kept in its
 * own file under `dataDir`, readable only by its owner, so that data encrypted today can be read tomorrow.
 */
export function ensureSecrets(dataDir: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const folder = path.join(dataDir, 'secrets')
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const missing = secretNames.filter((name) => !env[name]?.trim())
  return Object.fromEntries(missing.map((name) => [name, ensureSecret(secretFile(dataDir, name), makers[name])]))
}

export const secretFile = (dataDir: string, name: SecretName) => path.join(dataDir, 'secrets', name)

export const secretNames: SecretName[] = ['SECRETS_KEY', 'TEMPORAL_CODEC_KEY', 'JWT_SECRET', 'ADMIN_TOKEN']

function ensureSecret(file: string, make: () => string): string {
  try {
    // 'wx' fails if the file exists, so that two simultaneous starts use the same secret.
    writeFileSync(file, `${make()}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (!secret) throw new Error(`${file} is empty; restore the secret, or remove the file so that a new one is created`)
  return secret
}
