import type { RunOwners } from '../../domain/contracts/thread.ts'
import { type RunRecord, actingOf } from '../../domain/records/run.ts'
import type { ModelsNow } from '../models/live-models.ts'

/** For whom the small model is asked after a run that ended with success; undefined if it is not asked. */
export function suggestsFor(models: ModelsNow, run: RunRecord): RunOwners | undefined {
  if (models.current().smallModel === undefined || !isRunOfChat(run)) return undefined
  return { userId: run.user_id, projectId: run.project_id, assistantId: run.assistant_id }
}

/** Whether a person chats, in place of a program that asks for one answer. */
export function isRunOfChat(run: RunRecord): boolean {
  const { completion, response_json: response, asked_by: askedBy, imported } = run
  const isOfProgram = completion !== undefined || response !== undefined || askedBy !== undefined
  return actingOf(run).origin === 'chat' && !run.public && !isOfProgram && !imported
}
