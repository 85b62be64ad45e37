import { type SearchAttributePair, defineSearchAttributeKey } from '@temporalio/common'

/**
 * What an operator can search workflows by. The worker registers them when it starts. A run's is not
 * called `RunId`: Temporal keeps that name for the execution of the workflow itself.
 */
export const searchAttributeNames = [
  'UserId',
  'ProjectId',
  'AssistantId',
  'ThreadId',
  'AgentRunId',
  'RunStatus',
  'CleanupKind',
] as const
type Name = (typeof searchAttributeNames)[number]

/** Which attribute each id has. */
interface AttributeOfId {
  userId: 'UserId'
  projectId: 'ProjectId'
  assistantId: 'AssistantId'
  threadId: 'ThreadId'
  runId: 'AgentRunId'
}

/** At least one. */
type SomeAttributes = { [Required in Name]: Record<Required, string> & Partial<Record<Name, string>> }[Name]

/** The search attributes of a workflow that is started with these members: each id among them has its attribute. */
export type SearchAttributesOf<Start> = SomeAttributes & {
  [Id in keyof Start as Id extends keyof AttributeOfId ? AttributeOfId[Id] : never]: Start[Id]
}

export function searchAttributeKey(name: Name) {
  return defineSearchAttributeKey(name, 'KEYWORD')
}

/** As Temporal takes them. */
export function searchAttributePairs(values: Partial<Record<Name, string>>): SearchAttributePair[] {
  return searchAttributeNames.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ key: searchAttributeKey(name), value }]
  })
}
