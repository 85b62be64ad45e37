import { attachmentLimits, isAttached } from '../../../domain/content-parts.ts'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import type { CallOutputType } from '../../../domain/responses/call-shape.ts'
import type { PartSources } from '../../attachments/read-part.ts'
import { type GivenMessage, type Received, receiveContent } from '../../attachments/receive-content.ts'

type Loc = (string | number)[]

/** A person's message with images and files, or the result of a call with them. */
export interface GivenItem {
  /** Of a result: the id of its call. */
  callId?: string
  /** Of a result: its kind, if that is not the output of a function. */
  outputType?: CallOutputType | undefined
  parts: Extract<GivenMessage, { type: 'HumanMessage' }>['data']['content'] & object
  loc: Loc
}

/** `before`: what the request has brought so far. Throws `invalid_input` with the members of this interface. */
export async function receiveItem(
  sources: PartSources,
  { parts, loc, callId, outputType }: GivenItem,
  before: Received,
): Promise<Received> {
  const { bytes, allBytes, files } = attachmentLimits.user
  const left = {
    bytes,
    allBytes: allBytes - before.attachments.reduce((sum, { size }) => sum + size, 0),
    files: files - before.attachments.length,
  }
  try {
    const received = await receiveContent(sources, [{ type: 'HumanMessage', data: { content: parts } }], {
      limits: left,
      loc,
    })
    // Whoever stores the message gives it an id.
    return { ...received, input: received.input.map((message) => asGiven(message, callId, outputType)) }
  } catch (error) {
    const [field] = error instanceof AppError ? (error.fields ?? []) : []
    if (field === undefined) throw error
    const at = memberAt(field.loc.slice(loc.length + 1))
    throw invalidInput([...loc, ...(callId === undefined ? at : ['output', ...at.slice(1)])], field.msg, field.type)
  }
}

function asGiven(
  message: Received['input'][number],
  callId: string | undefined,
  outputType: CallOutputType | undefined,
): Received['input'][number] {
  if (message.type !== 'HumanMessage') return message
  const { content, parts } = message.data
  if (callId === undefined) return { type: message.type, data: { ...message.data, id: '' } }
  const files = (parts ?? []).filter(isAttached)
  const kind = outputType === undefined ? {} : { output_type: outputType }
  return { type: 'ToolMessage', data: { id: '', content, tool_call_id: callId, parts: files, ...kind } }
}

/**
 * `content, 0, image_url, url` is `content, 0, image_url` in this interface, and `content, 0, file, file_id` has no
 * `file`.
 */
function memberAt([content, place, kind, member]: (string | number)[]): Loc {
  if (place === undefined) return content === undefined ? [] : [content]
  const name = member === 'url' ? kind : member
  return [content ?? '', place, ...(name === undefined ? [] : [name])]
}
