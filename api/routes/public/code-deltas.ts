import type { CallSoFar } from '../../../domain/answer-changes.ts'
import type { ToolMessage } from '../../../domain/conversation.ts'
import { readPartialObject } from '../../../domain/partial-json.ts'
import { codeToolName, writtenBy } from '../../../domain/responses/written-files.ts'

/** The code in the arguments of a call, as far as they have arrived. */
export function codeIn(argumentsText: string): string {
  const { code } = readPartialObject(argumentsText)
  return typeof code === 'string' ? code : ''
}

/** A call that begins, or the next part of its arguments. */
interface CallDelta {
  index: number
  call: CallSoFar
  /** Undefined for the beginning of a call. */
  more?: string
}

/** A call as a step's deltas show it. The interface shows no arguments of searches. */
export function callDelta(delta: CallDelta): object | undefined {
  const {
    index,
    call: { id, name },
    more,
  } = delta
  if (name === codeToolName) return codeDelta(delta)
  if (name === 'retrieval') return more === undefined ? { index, id, type: 'file_search', file_search: {} } : undefined
  return more === undefined
    ? { index, id, type: 'function', function: { name, arguments: '', output: null } }
    : { index, type: 'function', function: { arguments: more } }
}

/** The beginning of an execution, or more of its code. */
function codeDelta({ index, call: { id, arguments: text }, more }: CallDelta): object | undefined {
  if (more === undefined) return { index, id, type: 'code_interpreter', code_interpreter: { input: '', outputs: [] } }
  const input = codeIn(text).slice(codeIn(text.slice(0, text.length - more.length)).length)
  return input === '' ? undefined : { index, type: 'code_interpreter', code_interpreter: { input } }
}

/** What an execution has given, as a step's delta shows it. */
export function outputsDelta({ index, id, outputs }: { index: number; id: string; outputs: object[] }): object {
  const numbered = outputs.map((output, index) => ({ index: index, ...output }))
  return { index, id, type: 'code_interpreter', code_interpreter: { outputs: numbered } }
}

type Output = { type: 'logs'; logs: string } | { type: 'image'; image: { file_id: string } }

/** What an execution has printed, and the images that it has drawn, as far as they are files of the project. */
export function outputsOfCode(result: ToolMessage | undefined): Output[] {
  if (result === undefined) return []
  const images = writtenBy(result).flatMap(({ isImage, fileId }) => (isImage && fileId !== undefined ? [fileId] : []))
  return [
    { type: 'logs', logs: result.data.content },
    ...images.map((id) => ({ type: 'image' as const, image: { file_id: id } })),
  ]
}
