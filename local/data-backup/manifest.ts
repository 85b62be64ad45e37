import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'
import { parseOwnJson } from '../../domain/json.ts'
import { LocalServiceError } from '../services/ways.ts'

/** What a backup of `npm start` says about itself. */
const Manifest = Type.Object({
  format: Type.Literal(1),
  kind: Type.Literal('npm start'),
  /** Everything that was stored before this moment is in the backup. */
  copied_at: Type.String(),
  /** How long a running service stood still; null if none was running. */
  paused_ms: Type.Union([Type.Integer(), Type.Null()]),
  /** The newest schema of the database that the code of the backup knew. */
  schema_version: Type.Integer(),
  /** The servers whose files are in the backup, with their versions. */
  servers: Type.Record(AnyKey, Type.Object({ kind: Type.String(), version: Type.Array(Type.Integer()) })),
  /** Secrets that were set in the environment: they are not in the backup. */
  secrets_elsewhere: Type.Array(Type.String()),
  folders: Type.Array(Type.String()),
  files: Type.Record(AnyKey, Type.Object({ bytes: Type.Integer(), sha256: Type.String() })),
})
export type Manifest = Static<typeof Manifest>

export const manifestFile = 'manifest.json'
export const dataFolder = 'data'

/** The text of the file: the manifest, and a checksum of it. */
export const manifestText = (manifest: Manifest) =>
  `${JSON.stringify({ manifest, sha256: checksumOf(manifest) }, undefined, 2)}\n`

/** Throws if there is none, if it is of something else, and if it was altered. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = path.join(folder, manifestFile)
  const text = await readFile(file, 'utf8').catch(() => {
    throw new LocalServiceError(`${folder} is not a backup, or not a complete one: it has no ${manifestFile}.`)
  })
  const Stored = Type.Object({ manifest: Manifest, sha256: Type.String() })
  let stored: unknown
  try {
    stored = parseOwnJson(text)
  } catch {
    throw new LocalServiceError(`${file} was altered: it is not JSON.`)
  }
  if (!Value.Check(Stored, stored)) {
    throw new LocalServiceError(
      `${file} is not of a backup of this version of "npm run backup" (backups of scripts/backup.ts are restored with it).`,
    )
  }
  if (checksumOf(stored.manifest) !== stored.sha256)
    throw new LocalServiceError(`${file} was altered: it does not match its checksum.`)
  return stored.manifest
}

const checksumOf = (manifest: Manifest) => createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
