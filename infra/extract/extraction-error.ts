/** Why a file gives no text. The message is for the owner of the file. */
export class ExtractionError extends Error {
  readonly reason: ExtractionFailure

  constructor(reason: ExtractionFailure, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ExtractionError'
    this.reason = reason
  }
}

export const extractionFailures = [
  'empty',
  'encrypted',
  'damaged',
  'no_text',
  'unsupported',
  'too_large',
  'out_of_memory',
  'timed_out',
  'crashed',
] as const
export type ExtractionFailure = (typeof extractionFailures)[number]

export function noText(): ExtractionError {
  return new ExtractionError('no_text', 'No readable text was found in this file.')
}
