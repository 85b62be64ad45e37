import type { Client } from '@temporalio/client'
import { searchAttributeNames } from '../../domain/contracts/search-attributes.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API; its package of enums cannot be imported by name from an ES module. */
const keyword = 2

/** A server that does not answer must not hold up the start for ever. */
const limitMs = 30_000

/** Makes sure that the namespace knows our search attributes. Safe to repeat and to race. */
export function registerSearchAttributes(client: Client, namespace: string): Promise<void> {
  return client.withDeadline(Date.now() + limitMs, () => register(client, namespace))
}

async function register(client: Client, namespace: string): Promise<void> {
  const { operatorService } = client.connection
  const known = await operatorService.listSearchAttributes({ namespace })
  const missing = searchAttributeNames.filter((name) => !(name in (known.customAttributes ?? {})))
  if (missing.length === 0) return
  await operatorService
    .addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing.map((name) => [name, keyword])) })
    .catch(async (error: unknown) => {
      const now = await operatorService.listSearchAttributes({ namespace })
      if (missing.some((name) => !(name in (now.customAttributes ?? {})))) throw error
    })
}
