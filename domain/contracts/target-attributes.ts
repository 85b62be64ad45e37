import type { DeletionTarget } from './deletion.ts'
import { searchAttributes } from './search-attributes.ts'

/** The search attributes of a workflow about something that a user owns. */
export function targetAttributes({
  kind,
  id,
  userId,
  projectId,
}: DeletionTarget & { userId: string; projectId?: string | undefined }) {
  const ofProject = kind === 'project' ? id : projectId
  return [
    { key: searchAttributes.UserId, value: userId },
    ...(ofProject === undefined ? [] : [{ key: searchAttributes.ProjectId, value: ofProject }]),
    ...(kind === 'assistant' ? [{ key: searchAttributes.AssistantId, value: id }] : []),
    ...(kind === 'thread' ? [{ key: searchAttributes.ThreadId, value: id }] : []),
  ]
}
