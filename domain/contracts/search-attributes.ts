import { defineSearchAttributeKey } from '@temporalio/common'

/** What an operator can search workflows by. The worker registers them when it starts. */
export const searchAttributes = {
  UserId: defineSearchAttributeKey('UserId', 'KEYWORD'),
  ProjectId: defineSearchAttributeKey('ProjectId', 'KEYWORD'),
  AssistantId: defineSearchAttributeKey('AssistantId', 'KEYWORD'),
  ThreadId: defineSearchAttributeKey('ThreadId', 'KEYWORD'),
  RunId: defineSearchAttributeKey('RunId', 'KEYWORD'),
  RunStatus: defineSearchAttributeKey('RunStatus', 'KEYWORD'),
}
