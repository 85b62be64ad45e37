import { defineQuery, defineSignal } from '@temporalio/workflow'
import { type WorkflowContract, workflowType } from './workflow-contract.ts'

/** The workflow that processes the files of one upload. Ids and small facts only; the files' text stays in the database. */
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
    /** A file of the upload was deleted. Sent when its record is gone, so that a new step would find nothing to do. */
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
  /** Set when failed files are tried again: for the how many'th time. */
  retry?: number
  /** How long a step may wait in all for stores and model servers that are away. */
  patienceHours?: number
  /** Set when a long ingestion goes on in a new execution: what the files before these came to. */
  outcomes?: Record<string, FileOutcome>
}

export const defaultPatienceHours = 168

/** What a file came to. `gone`: it was deleted meanwhile. */
export type FileOutcome = 'ready' | 'failed' | 'gone'

export interface IngestionResult {
  ready: number
  failed: number
  gone: number
}

/** How far an ingestion is. */
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

/** `busy`: too many files wait for their turn already, of this user or in all. */
export type ExtractStepResult = 'done' | 'gone' | 'busy'

/** `waiting`: all chunks so far are embedded, and more are being extracted. */
export type EmbedStepResult = 'ready' | 'failed' | 'gone' | 'waiting'

/**
 * The kinds of failure that tell of a store or a model server that is away. They say nothing about the
 * file and are waited out.
 */
export const outageTypes = ['unavailable', 'too_many_requests', 'upstream_failed', 'timed_out'] as const

/** The process that reads died: perhaps through the file, perhaps not. */
export const readerFailedType = 'reader_failed'
