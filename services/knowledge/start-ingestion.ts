import { defaultPatienceHours, ingestionContract } from '../../domain/contracts/ingestion.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { WorkflowClient } from '../workflow-client.ts'

interface StartIngestionDeps {
  workflows: Pick<WorkflowClient, 'start'>
}

export type StartIngestion = ReturnType<typeof createStartIngestion>

/** Starts the processing of an assistant's files. Starting the same ingestion again has no effect. */
export function createStartIngestion({ workflows }: StartIngestionDeps) {
  return (
    assistant: Pick<AssistantRecord, '_id' | 'project_id' | 'user_id'>,
    ingestion: { ingestionId: string; fileIds: string[]; retry?: number },
  ): Promise<void> =>
    workflows.start(ingestionContract, {
      ...ingestion,
      assistantId: assistant._id,
      projectId: assistant.project_id,
      userId: assistant.user_id,
      patienceHours: defaultPatienceHours,
    })
}
