import { defineSearchAttributeKey } from '@temporalio/common'

/** What an operator can search workflows by. The worker registers them when it starts. */
export const searchAttributes = {
  UserId: defineSearchAttributeKey('UserId', 'KEYWORD'),
  ProjectId: defineSearchAttributeKey('ProjectId', 'KEYWORD'),
  AssistantId: defineSearchAttributeKey('AssistantId', 'KEYWORD'),
  ThreadId: defineSearchAttributeKey('ThreadId', 'KEYWORD'),
  /** Not `RunId`: Temporal keeps that name for the run of the workflow itself. */
  AgentRunId: defineSearchAttributeKey('AgentRunId', 'KEYWORD'),
  RunStatus: defineSearchAttributeKey('RunStatus', 'KEYWORD'),
}
