import { type SearchAttributePair, defineSearchAttributeKey } from '@temporalio/common'
import { searchAttributeNames } from './search-attribute-names.ts'

type Name = (typeof searchAttributeNames)[number]

/** The attribute of each id. */
interface AttributeOfId {
  userId: 'UserId'
  projectId: 'ProjectId'
  assistantId: 'AssistantId'
  threadId: 'ThreadId'
  runId: 'AgentRunId'
}

/** At least one. */
type SomeAttributes = { [Required in Name]: Record<Required, string> & Partial<Record<Name, string>> }[Name]

/** The search attributes that a workflow with these start members must have: one for each id among them. */
export type SearchAttributesOf<Start> = SomeAttributes & {
  [Id in keyof Start as Id extends keyof AttributeOfId ? AttributeOfId[Id] : never]: Start[Id]
}

export function searchAttributeKey(name: Name) {
  return defineSearchAttributeKey<'KEYWORD'>(name, 'KEYWORD')
}

/** The attributes in the form that Temporal's client takes. */
export function searchAttributePairs(values: Partial<Record<Name, string>>): SearchAttributePair[] {
  return searchAttributeNames.flatMap((name) => {
    const value = values[name]
    return value === undefined ? [] : [{ key: searchAttributeKey(name), value }]
  })
}
