import type { Readable } from 'node:stream'
import { AppError } from '../../domain/errors.ts'
import type { FileRecord } from '../../domain/records/file.ts'

export interface UploadPart {
  name: string
  contentType: string
  content: Readable
}

export interface Upload {
  ingestionId: string
  /** In their state at the start of their ingestion, in order. */
  files: FileRecord[]
}

/** Errors of the caller's connection; the service's own errors are passed on. */
export function brokenOff(cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  return new AppError('bad_request', 'The upload was interrupted or is not well-formed multipart/form-data.', { cause })
}
