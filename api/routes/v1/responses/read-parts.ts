import { type ImageDetail, imageDetails } from '../../../../domain/content-parts.ts'
import { invalidInput } from '../../../../domain/errors.ts'
import type { InputEntry } from '../../../../services/v1/responses/index.ts'
import type { Part } from './input-schemas.ts'

type Loc = (string | number)[]
type GivenPart = Extract<InputEntry, { parts: unknown }>['parts'][number]

/** Whether a part holds more than text. */
export const isFilePart = ({ type }: Part): boolean => type === 'input_image' || type === 'input_file'

/** A part of a person's message. `textOf` reads those that are text. */
export function readPart(part: Part, loc: Loc, textOf: (part: Part, loc: Loc) => string): GivenPart {
  if (part.type === 'input_image') return imageOf(part, loc)
  if (part.type === 'input_file') return fileOf(part, loc)
  return { type: 'text', text: textOf(part, loc) }
}

function imageOf({ image_url: url, file_id: fileId, detail }: Part, loc: Loc): GivenPart {
  const shown = detail ? { detail: detailOf(detail, [...loc, 'detail']) } : {}
  if (url && fileId) throw invalidInput([...loc, 'file_id'], 'cannot be combined with image_url')
  if (url) return { type: 'image_url', image_url: { url, ...shown } }
  if (fileId) return { type: 'image_file', image_file: { file_id: fileId, ...shown } }
  throw invalidInput([...loc, 'image_url'], 'is required, or file_id', 'missing')
}

function fileOf({ file_data: data, file_id: fileId, file_url: url, filename }: Part, loc: Loc): GivenPart {
  const name = filename ? { filename } : {}
  if ([data, fileId, url].filter(Boolean).length > 1)
    throw invalidInput([...loc, 'file_data'], 'only one of file_data, file_id and file_url can be sent')
  if (url) return { type: 'file_url', file_url: { url, ...name } }
  if (data) return { type: 'file', file: { file_data: data, ...name } }
  if (fileId) return { type: 'file', file: { file_id: fileId, ...name } }
  throw invalidInput([...loc, 'file_data'], 'is required, or file_id or file_url', 'missing')
}

function detailOf(detail: string, loc: Loc): ImageDetail {
  const known = imageDetails.find((one) => one === detail)
  if (known === undefined) throw invalidInput(loc, `is none of ${imageDetails.join(', ')}`, 'unsupported')
  return known
}
