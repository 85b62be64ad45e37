/** Why no text could be read from a file. The message is shown to the owner of the file. */
export class UnreadableFile extends Error {
  readonly reason: UnreadableReason

  constructor(reason: UnreadableReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UnreadableFile'
    this.reason = reason
  }
}

export const unreadableReasons = [
  'empty',
  'encrypted',
  'damaged',
  'no_text',
  'unsupported',
  'too_large',
  'out_of_memory',
  'too_slow',
  'timed_out',
  'crashed',
] as const
export type UnreadableReason = (typeof unreadableReasons)[number]

/** The failures that a retry cannot change. When a reader was killed, the file may not be the cause. */
export function isFinal({ reason }: UnreadableFile): boolean {
  return reason !== 'crashed'
}

export function isUnreadableFile(error: unknown): error is UnreadableFile {
  return error instanceof UnreadableFile
}

export function noText(): UnreadableFile {
  return new UnreadableFile('no_text', 'No readable text was found in this file.')
}
