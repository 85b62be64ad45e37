import { AppError, invalidInput } from '../../domain/errors.ts'
import type { MemoryScope } from '../../domain/memory/memory-scope.ts'
import type { Assistants } from '../assistants/index.ts'
import type { Collections } from '../collections.ts'
import { projectStore } from '../stores/projects.ts'

export interface RequestedScopeDeps {
  collections: Pick<Collections, 'projects'>
  assistants: Pick<Assistants, 'readOwn'>
}

/** Whom a fact is for, as a request names it. */
export interface NamedOwner {
  assistant_id?: string
  project_id?: string
}

/**
 * The scope that a request names. Throws `invalid_input` for two owners, and for one that the user does not have
 * `not_found` or `forbidden`.
 */
export async function requestedScope(
  { collections, assistants }: RequestedScopeDeps,
  userId: string,
  { assistant_id: assistantId, project_id: projectId }: NamedOwner,
): Promise<MemoryScope> {
  if (assistantId !== undefined && projectId !== undefined)
    throw invalidInput(['body', 'project_id'], 'cannot be given together with assistant_id')
  if (assistantId !== undefined) {
    await assistants.readOwn(userId, assistantId)
    return { kind: 'assistant', id: assistantId }
  }
  if (projectId === undefined) return { kind: 'user', id: userId }
  const holder = await projectStore(collections).holderOfAny(projectId)
  if (holder === undefined) throw new AppError('not_found', 'There is no such project.')
  if (holder !== userId) throw new AppError('forbidden', 'This project belongs to another user.')
  return { kind: 'project', id: projectId }
}
