import { isDeeperThan } from './json-depth.ts'

/** Limits for a schema from a server that a user named: it is sent to the model in every step. */
const maxBytes = 64 * 1024
const maxDepth = 50

/** The size of a foreign schema in bytes; undefined if it is too large or nested too deeply. */
export function foreignSchemaBytes(schema: object): number | undefined {
  if (isDeeperThan(schema, maxDepth)) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > maxBytes ? undefined : bytes
}
