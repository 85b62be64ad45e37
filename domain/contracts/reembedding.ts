import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow that embeds the stored chunks of an assistant's files with another model, into a new space of the
 * vector store. It carries ids only.
 */
export const reembeddingContract = {
  type: workflowType('reembeddingWorkflow'),
  queue: 'documents',
  id: ({ assistantId, generation }) => `reembedding/${assistantId}/${generation}`,
  input: ({ assistantId, generation, model, patienceHours }) => ({ assistantId, generation, model, patienceHours }),
  summary: ({ assistantId, model }) => `Embed the files of assistant ${assistantId} with ${model}`,
  details: () => 'Embeds the stored chunks with the current model, then switches the search over to them.',
  attributes: ({ userId, projectId, assistantId }) => ({
    UserId: userId,
    ProjectId: projectId,
    AssistantId: assistantId,
  }),
} satisfies WorkflowContract<{
  key: { assistantId: string; generation: number }
  start: ReembeddingInput & { userId: string; projectId: string }
  input: ReembeddingInput
  result: ReembeddingResult
}>

export interface ReembeddingInput {
  assistantId: string
  /** Of the space that is filled (`domain/knowledge/vector-space.ts`). */
  generation: number
  /** Workers with another embedding model do not take part. */
  model: string
  /** How long it may wait in total while stores or the embedding server are away. */
  patienceHours: number
}

/**
 * `superseded`: the assistant's files are, or were, embedded anew with yet another model. `gone`: the assistant was
 * deleted. `failed`: the reason is on the assistant's record; it can be started again and continues.
 */
type ReembeddingResult = 'done' | 'superseded' | 'gone' | 'failed'

/** `more`: its time is over. `busy`: no slot is free for this user. */
export type ReembedStepResult = 'more' | 'busy' | Exclude<ReembeddingResult, 'failed'>
