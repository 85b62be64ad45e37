import { ingestionContract } from '../../domain/contracts/ingestion.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { WorkflowClient } from '../workflow-client.ts'

interface StartIngestionDeps {
  workflows: Pick<WorkflowClient, 'start'>
  /** How long a step may wait in total for stores and model servers that are away. */
  patienceHours: number
}

export type StartIngestion = ReturnType<typeof createStartIngestion>

/** Starts the processing of an assistant's files. Starting the same ingestion again has no effect. */
export function createStartIngestion({ workflows, patienceHours }: StartIngestionDeps) {
  return (
    assistant: AssistantRecord,
    ingestion: { ingestionId: string; fileIds: string[]; retry?: number },
  ): Promise<void> =>
    workflows.start(ingestionContract, {
      ...ingestion,
      assistantId: assistant._id,
      projectId: assistant.project_id,
      userId: assistant.user_id,
      patienceHours,
    })
}
