import type { Client } from '@temporalio/client'
import { searchAttributeNames } from '../../domain/contracts/search-attribute-names.ts'

/** `INDEXED_VALUE_TYPE_KEYWORD` of Temporal's API; its package of enums cannot be imported by name from an ES module. */
const keyword = 2

/** An unreachable server must not delay the start for ever. */
const limitMs = 30_000

/** Registers our search attributes in the namespace. Safe to repeat, and to run in several processes at once. */
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
