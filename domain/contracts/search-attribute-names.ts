// Before a change: docs/traps.md, Temporal.
/**
 * The search attributes of workflows. Workers register them when they start. The id of a run is not called `RunId`,
 * because Temporal uses that name for the workflow execution; `ParentRunId` is its own, too. This file needs no package:
 * what installs Temporal reads it before there are any.
 */
export const searchAttributeNames = [
  'UserId',
  'ProjectId',
  'AssistantId',
  'ThreadId',
  'AgentRunId',
  'RunStatus',
  'CleanupKind',
  'AskingRunId',
] as const
