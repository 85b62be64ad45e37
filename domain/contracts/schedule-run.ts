import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow of one run of a schedule: starts it, waits for its end and records it. Temporal's schedule starts it; for
 * a run that its owner triggers, the API does. It carries ids and states only.
 */
export const scheduleRunContract = {
  type: workflowType('scheduleRunWorkflow'),
  queue: 'schedules',
  id: ({ scheduleId, triggeredRunId }) =>
    triggeredRunId === undefined ? `schedule-run/${scheduleId}` : `schedule-run/${scheduleId}/${triggeredRunId}`,
  input: ({ scheduleId, userId, projectId, assistantId, triggeredRunId }) => ({
    scheduleId,
    userId,
    projectId,
    assistantId,
    ...(triggeredRunId === undefined ? {} : { triggeredRunId }),
  }),
  summary: ({ scheduleId }) => `Run of schedule ${scheduleId}`,
  attributes: ({ userId, projectId, assistantId }) => ({
    UserId: userId,
    ProjectId: projectId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: { scheduleId: string; triggeredRunId?: string }
  start: Owned & { scheduleId: string; triggeredRunId?: string }
  input: ScheduleRunInput
  result: ScheduleRunOutcome
}>

/** The workflow that mails the result of one run. */
export const scheduleMailContract = {
  type: workflowType('scheduleMailWorkflow'),
  queue: 'schedules',
  id: ({ due }) => `schedule-mail/${due.scheduleId}/${due.triggeredRunId ?? due.dueAt}`,
  input: ({ due }) => due,
  summary: ({ due }) => `Mail of schedule ${due.scheduleId}`,
  attributes: ({ userId, projectId, assistantId }) => ({
    UserId: userId,
    ProjectId: projectId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: { due: DueRun }
  start: Owned & { due: DueRun }
  input: DueRun
  result: DueRun & { outcome: 'done' }
}>

interface Owned {
  userId: string
  projectId: string
  assistantId: string
}

export interface ScheduleRunInput extends Owned {
  scheduleId: string
  /** The id of a run that the owner triggered. */
  triggeredRunId?: string
  /** The time of the timetable (ISO 8601), set when a long wait continues as new. */
  dueAt?: string
}

/** One run of a schedule, as activities name it. */
export interface DueRun {
  scheduleId: string
  /** ISO 8601. */
  dueAt: string
  triggeredRunId?: string
}

/** `wait`: the run has been started. `none`: nothing is to be started. */
export type StartOutcome = { next: 'wait' } | { next: 'finish' } | { next: 'none'; reason: NoRunReason }
export type NoRunReason = 'gone' | 'paused' | 'suspended' | 'enough_runs'

/** Whether the run of a schedule has ended. `waits`: for a person's decision, maybe for days. */
export interface RunInspection {
  state: 'open' | 'waits' | 'ended'
}

type ScheduleRunOutcome = NoRunReason | 'finished'
