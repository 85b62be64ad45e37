/** Why a file gives no text. The message is for the owner of the file. */
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

/** What another try cannot change. A reader that was killed may not have been stopped by its file. */
export function isFinal({ reason }: UnreadableFile): boolean {
  return reason !== 'crashed'
}

export function isUnreadableFile(error: unknown): error is UnreadableFile {
  return error instanceof UnreadableFile
}

export function noText(): UnreadableFile {
  return new UnreadableFile('no_text', 'No readable text was found in this file.')
}
