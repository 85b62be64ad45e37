import { tooLong } from './foreign-values.ts'

/** Limits for one answer: its texts, and the ids, names and arguments of its calls together. */
export const maxAnswerBytes = 2 * 1024 * 1024
export const maxArgumentsBytes = 1024 * 1024
export const maxIdLength = 256
export const maxNameLength = 128

/** Counts the bytes of an answer's texts, and returns those of the last one. Throws `ModelFailure` above the limit. */
export function createByteCount(): (text: string) => number {
  let answerBytes = 0
  return (text) => {
    const bytes = Buffer.byteLength(text)
    answerBytes += bytes
    if (answerBytes > maxAnswerBytes) throw tooLong(`is longer than ${maxAnswerBytes} bytes`)
    return bytes
  }
}
