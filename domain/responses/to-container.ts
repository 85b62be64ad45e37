import { containerId } from '../container-ids.ts'
import type { ContainerFiles } from './items-of.ts'

/** The container of a session as items show it. `baseUrl`: the address of the service. */
export function toContainer(threadId: string, baseUrl: string): ContainerFiles {
  const id = containerId(threadId)
  return { id, linkOf: (fileId) => `${baseUrl}/v1/containers/${id}/files/${fileId}/content` }
}
