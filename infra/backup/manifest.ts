import { readFile } from 'node:fs/promises'
import path from 'node:path'
import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { AnyKey } from '../../domain/any-key.ts'

/** What a backup says about itself, in `manifest.json`, written last: a folder without one is incomplete. */
const Manifest = Type.Object({
  format: Type.Literal(1),
  /** Everything that was written before this is in the backup. */
  started_at: Type.String(),
  finished_at: Type.String(),
  schema_version: Type.Integer(),
  /** Whether all records are of one moment. If not, the service must have been stopped. */
  is_snapshot: Type.Boolean(),
  /** Number of records by collection. */
  collections: Type.Record(AnyKey, Type.Integer()),
  /** Whether the folder of the embedded vector store is in the backup. */
  has_vectors: Type.Boolean(),
})
export type Manifest = Static<typeof Manifest>

export const manifestFile = 'manifest.json'
export const recordsFile = (collection: string) => `records/${collection}.jsonl.gz`
export const vectorsFolder = 'vectors'

export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(path.join(folder, manifestFile), 'utf8').catch((cause: unknown) => {
    throw new Error(`${folder} is not a complete backup: it has no ${manifestFile}`, { cause })
  })
  const manifest: unknown = JSON.parse(text)
  if (!Value.Check(Manifest, manifest)) throw new Error(`${folder}/${manifestFile} has an unknown format`)
  return manifest
}
