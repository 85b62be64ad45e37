import { useQuery } from '@tanstack/react-query'
import type { AdminApi } from '../../lib/admin-api.ts'
import { type Schemas, queryClient, unwrap } from '../../lib/api.ts'

export type ModelSettings = Schemas['ModelSettings']
export type ModelServer = Schemas['ModelServer']

const key = ['admin', 'models']

export const useModelSettings = (api: AdminApi) =>
  useQuery({ queryKey: key, queryFn: () => unwrap(api.GET('/admin/models')) })

/** Every change answers with the settings as they are then. */
export function keepSettings(settings: ModelSettings): void {
  queryClient.setQueryData(key, settings)
}

/** The models of all servers, each once. */
export function modelIds({ servers }: ModelSettings): string[] {
  return [...new Set(servers.flatMap(({ models }) => models.map(({ id }) => id)))]
}
