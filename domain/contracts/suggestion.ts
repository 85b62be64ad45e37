import type { RunOwners } from './thread.ts'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow that asks the small model for a name of a chat and for questions, after a run of it has ended. A workflow
 * of its own, so that the next run of the chat does not wait for it.
 */
export const suggestionContract = {
  type: workflowType('suggestionWorkflow'),
  queue: 'runs',
  id: ({ runId }) => `suggestion/${runId}`,
  input: ({ threadId, runId }) => ({ threadId, runId }),
  summary: ({ threadId }) => `Suggestions for thread ${threadId}`,
  attributes: ({ userId, projectId, threadId, assistantId, runId }) => ({
    UserId: userId,
    ProjectId: projectId,
    ThreadId: threadId,
    AssistantId: assistantId,
    AgentRunId: runId,
  }),
} satisfies WorkflowContract<{
  key: { runId: string }
  start: SuggestionInput & RunOwners
  input: SuggestionInput
  result: SuggestionOutcome
}>

export interface SuggestionInput {
  threadId: string
  runId: string
}

/** `none`: nothing was wanted, or something else has happened in the chat since. `failed`: the model did not answer. */
export type SuggestionOutcome = 'suggested' | 'none' | 'failed'
