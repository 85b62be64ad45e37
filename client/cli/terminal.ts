/* oxlint-disable no-control-regex */
/**
 * Sequences that steer a terminal (ECMA-48): with parameters, with a text that another sequence ends, and short ones.
 * What is not finished is taken as a sequence, too: text that grows keeps its beginning.
 */
const sequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c\n]{0,2000}(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-~]?/g
/** Control characters, except tabs and line ends, and signs that turn the direction of what follows. */
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text of models and servers as it may be shown: nothing in it steers the terminal. */
export const plain = (text: string): string =>
  text.replaceAll('\r\n', '\n').replaceAll(sequences, '').replaceAll(controls, '')

/** The same on one line, for tables and messages. */
export const plainLine = (text: string): string => plain(text).replaceAll(/\s+/g, ' ').trim()

export async function standardInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += String(chunk)
  return text
}

export const out = (text: string): void => void process.stdout.write(text)
export const note = (text: string): void => void process.stderr.write(`${text}\n`)

/** A line that the next one replaces; nothing where nobody watches. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
}
