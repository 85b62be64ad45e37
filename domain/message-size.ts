import { invalidInput } from './errors.ts'
import type { Message } from './messages.ts'

const mebibyte = 1024 * 1024

/** Maximum size of one message in bytes, for users and for callers without an account. */
export const maxMessageBytes = { user: 2 * mebibyte, public: mebibyte / 4 } as const

/** Throws `invalid_input` for a message that is longer than `limitBytes`, its tool calls and metadata included. */
export function checkMessageSize(message: Message, limitBytes: number, loc: (string | number)[]): void {
  const { content, ...rest } = message.data
  checkTextSize(`${content}${JSON.stringify(rest)}`, limitBytes, loc)
}

/** Like `checkMessageSize`, for other text that reaches the model as a message. */
export function checkTextSize(text: string, limitBytes: number, loc: (string | number)[]): void {
  const bytes = Buffer.byteLength(text)
  if (bytes > limitBytes)
    throw invalidInput(loc, `is too long: it has ${bytes} bytes, a message may have ${limitBytes}`, 'too_long')
}
