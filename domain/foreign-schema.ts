import { isDeeperThan } from './json-depth.ts'

/** What a schema may hold that comes from a server that a user named: it goes to the model at every step. */
const maxBytes = 64 * 1024
const maxDepth = 50

/** The bytes of a foreign schema; undefined for one that is longer or nests deeper than is allowed. */
export function foreignSchemaBytes(schema: object): number | undefined {
  if (isDeeperThan(schema, maxDepth)) return undefined
  const bytes = Buffer.byteLength(JSON.stringify(schema))
  return bytes > maxBytes ? undefined : bytes
}
