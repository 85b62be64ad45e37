import { defineQuery, defineSignal } from '@temporalio/workflow'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/**
 * The workflow that processes the files of one upload. It carries ids and small facts only; the text of files stays
 * in the database.
 */
export const ingestionContract = {
  type: workflowType('ingestionWorkflow'),
  queue: 'documents',
  id: ({ ingestionId }) => `ingestion/${ingestionId}`,
  startsOnce: true,
  input: ({ userId: _userId, projectId: _projectId, ...input }) => input,
  summary: ({ fileIds, assistantId }) => `${fileIds.length} file(s) for assistant ${assistantId}`,
  details: () => 'Extracts text, cuts it into chunks, embeds and stores them, file by file.',
  attributes: ({ userId, projectId, assistantId }) => ({
    UserId: userId,
    ProjectId: projectId,
    AssistantId: assistantId,
  }),
  signals: {
    /** A file of the upload was deleted. Sent after its record is removed, so that a new step finds nothing to do. */
    fileDeleted: defineSignal<[{ fileId: string }]>('fileDeleted'),
  },
  queries: {
    progress: defineQuery<IngestionProgress>('progress'),
  },
} satisfies WorkflowContract<{
  key: { ingestionId: string }
  start: IngestionInput & { userId: string; projectId: string }
  input: IngestionInput
  result: IngestionResult
}>

export interface IngestionInput {
  ingestionId: string
  assistantId: string
  /** In the order in which they are processed. */
  fileIds: string[]
  /** Set when failed files are retried: the number of the retry. */
  retry?: number
  /** How long a step may wait in total while stores or model servers are away. */
  patienceHours: number
  /** Set when a long ingestion continues as new: the results of the files so far. */
  outcomes?: Record<string, FileOutcome>
}

/** The result of a file. `gone`: it was deleted in the meantime. */
export type FileOutcome = 'ready' | 'failed' | 'gone'

export interface IngestionResult {
  ready: number
  failed: number
  gone: number
}

/** The progress of an ingestion. */
export interface IngestionProgress {
  total: number
  /** The file that is being processed now. */
  current: string | null
  outcomes: Record<string, FileOutcome>
}

export interface FileStepInput {
  fileId: string
  assistantId: string
}

/** `busy`: too many files are waiting already, of this user or in total. */
export type ExtractStepResult = 'done' | 'gone' | 'busy'

/** `waiting`: all chunks so far are embedded, and more are being extracted. */
export type EmbedStepResult = 'ready' | 'failed' | 'gone' | 'waiting'

/**
 * The kinds of failure that mean that a store or a model server is away. They are not caused by the file, and the
 * workflow waits until they pass.
 */
export const outageTypes = ['unavailable', 'too_many_requests', 'upstream_failed', 'timed_out'] as const

/** The process that reads died; the file may or may not be the cause. */
export const readerFailedType = 'reader_failed'

/**
 * How long a step of an ingestion waits in total while stores or model servers are away. A week: files of an outage that
 * is found after a weekend are still processed.
 */
export const defaultPatienceHours = 168
