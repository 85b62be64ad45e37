import { attachmentLimits } from '../../../domain/content-parts.ts'
import { AppError, invalidInput } from '../../../domain/errors.ts'
import type { PartSources } from '../../attachments/read-part.ts'
import { type GivenMessage, type Received, receiveContent } from '../../attachments/receive-content.ts'

type Loc = (string | number)[]

/** A person's message with images and files. */
export interface GivenItem {
  parts: Extract<GivenMessage, { type: 'HumanMessage' }>['data']['content'] & object
  loc: Loc
}

/** `before`: what the request has brought so far. Throws `invalid_input` with the members of this interface. */
export async function receiveItem(
  sources: PartSources,
  { parts, loc }: GivenItem,
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
    return { ...received, input: received.input.map(withoutId) }
  } catch (error) {
    const [field] = error instanceof AppError ? (error.fields ?? []) : []
    if (field === undefined) throw error
    throw invalidInput([...loc, ...memberAt(field.loc.slice(loc.length + 1))], field.msg, field.type)
  }
}

function withoutId(message: Received['input'][number]): Received['input'][number] {
  return message.type === 'HumanMessage' ? { type: message.type, data: { ...message.data, id: '' } } : message
}

/** `content, 0, image_url, url` is `content, 0, image_url` in this interface, and `content, 0, file, file_id` has no `file`. */
function memberAt([content, place, kind, member]: (string | number)[]): Loc {
  if (place === undefined) return content === undefined ? [] : [content]
  const name = member === 'url' ? kind : member
  return [content ?? '', place, ...(name === undefined ? [] : [name])]
}
