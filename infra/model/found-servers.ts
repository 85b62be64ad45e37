import { parseForeignJson } from '../../domain/foreign-json.ts'
import { isJsonObject } from '../../domain/json.ts'
import type { FoundServer } from '../../domain/model-catalog.ts'
import { readServedModels } from '../../domain/served-models.ts'

/** The text of `MODEL_SERVERS_FOUND`; undefined if it is not what `npm start` writes. */
export function readFoundServers(text: string): FoundServer[] | undefined {
  try {
    const value = parseForeignJson(text, { bytes: 4 * 1024 * 1024 })
    if (!Array.isArray(value)) return undefined
    const entries: unknown[] = value
    const servers = entries.flatMap((entry) => {
      if (!isJsonObject(entry)) return []
      const { name, base_url: baseUrl, models } = entry
      if (typeof name !== 'string' || typeof baseUrl !== 'string' || !URL.canParse(baseUrl)) return []
      const listed = readServedModels({ data: models })
      return listed === undefined ? [] : [{ name, baseUrl, models: listed }]
    })
    return servers.length === entries.length ? servers : undefined
  } catch {
    return undefined
  }
}

/** The opposite. */
export function foundServersText(servers: FoundServer[]): string {
  return JSON.stringify(
    servers.map(({ name, baseUrl, models }) => ({
      name,
      base_url: baseUrl,
      models: models.map(({ id, contextTokens }) => ({ id, context_length: contextTokens })),
    })),
  )
}
