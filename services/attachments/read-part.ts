import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ContentPartInput, ImageDetail } from '../../domain/content-parts.ts'
import { type AppError, invalidInput } from '../../domain/errors.ts'
import { audioTypeOf, fileTypeOf, imageTypeOf } from './content-type.ts'
import type { Download } from './downloads.ts'

type Loc = (string | number)[]
/** Also parts that only `/v1` has. */
export type FilePart =
  | Exclude<ContentPartInput, { type: 'text' }>
  | { type: 'image_file'; image_file: { file_id: string; detail?: ImageDetail } }
  | { type: 'file_url'; file_url: { url: string; filename?: string } }

export interface PartSources {
  /** Reaches addresses that callers name; refuses private ones. */
  download: Download
  /** A file that the caller has uploaded before; undefined if the caller can have none. */
  openFile?: ((fileId: string) => Promise<{ name: string; size: number; bytes: Readable }>) | undefined
}

export interface ReadPart {
  name: string
  contentType: string
  bytes: Buffer
}

/**
 * The bytes of a part, at most `maxBytes`, and what they are. Throws `invalid_input` for bytes that are missing, too
 * many, or of another kind than the part says.
 */
export async function readPart(
  sources: PartSources,
  part: FilePart,
  { maxBytes, loc }: { maxBytes: number; loc: Loc },
): Promise<ReadPart> {
  switch (part.type) {
    case 'image_url':
      return readImage(sources, part.image_url.url, { maxBytes, at: [...loc, 'image_url', 'url'] })
    case 'image_file': {
      const at = [...loc, 'image_file', 'file_id']
      const { bytes } = await uploadedFile(sources, part.image_file.file_id, maxBytes, at)
      return { name: '', bytes, contentType: known(imageTypeOf(bytes), at, notAnImage) }
    }
    case 'file_url': {
      const at = [...loc, 'file_url', 'url']
      const { url, filename } = part.file_url
      const bytes = await sources.download(url, { maxBytes, loc: at })
      return { name: filename ?? nameIn(url), bytes, contentType: known(fileTypeOf(bytes), at, notAFile) }
    }
    case 'input_audio': {
      const at = [...loc, 'input_audio', 'data']
      const bytes = bytesOfBase64(part.input_audio.data, maxBytes, at)
      const contentType = known(audioTypeOf(bytes), at, 'is neither WAV nor MP3')
      const said = part.input_audio.format === 'wav' ? 'audio/wav' : 'audio/mpeg'
      if (said !== contentType) throw invalidInput([...loc, 'input_audio', 'format'], 'is not the format of the data')
      return { name: '', bytes, contentType }
    }
    case 'file': {
      const { file_data: data, file_id: fileId, filename } = part.file
      if ((data === undefined) === (fileId === undefined))
        throw invalidInput([...loc, 'file'], 'must have either file_data or file_id', 'missing')
      const at = [...loc, 'file', data === undefined ? 'file_id' : 'file_data']
      const uploaded = fileId === undefined ? undefined : await uploadedFile(sources, fileId, maxBytes, at)
      const bytes = uploaded?.bytes ?? bytesOfData(data ?? '', maxBytes, at)
      return {
        name: filename ?? uploaded?.name ?? 'file',
        bytes,
        contentType: known(fileTypeOf(bytes), at, notAFile),
      }
    }
  }
}

/** An image at an address or, unless it `isRemote`, in a data URL. */
export async function readImage(
  sources: Pick<PartSources, 'download'>,
  url: string,
  { maxBytes, at, isRemote = false }: { maxBytes: number; at: Loc; isRemote?: boolean },
): Promise<ReadPart> {
  const bytes =
    url.startsWith('data:') && !isRemote
      ? bytesOfDataUrl(url, maxBytes, at)
      : await sources.download(url, { maxBytes, loc: at, accept: 'image/*' })
  return { name: '', bytes, contentType: known(imageTypeOf(bytes), at, notAnImage) }
}

const notAnImage = 'is not a PNG, JPEG, GIF or WebP image'
const notAFile = 'is neither a PDF nor text in UTF-8'

/** The last part of the path of an address that has been reached. */
const nameIn = (url: string): string => new URL(url).pathname.split('/').at(-1)?.slice(0, 200) || 'file'

function known(contentType: string | undefined, loc: Loc, problem: string): string {
  if (contentType === undefined) throw invalidInput(loc, problem, 'invalid_file')
  return contentType
}

const bytesOfData = (data: string, maxBytes: number, loc: Loc): Buffer =>
  data.startsWith('data:') ? bytesOfDataUrl(data, maxBytes, loc) : bytesOfBase64(data, maxBytes, loc)

/** The type that a data URL names says nothing: the bytes do. */
function bytesOfDataUrl(url: string, maxBytes: number, loc: Loc): Buffer {
  const comma = url.indexOf(',')
  if (comma < 0 || comma > 1000 || !url.slice(0, comma).endsWith(';base64'))
    throw invalidInput(loc, 'must be a data URL with base64: data:image/png;base64,…')
  return bytesOfBase64(url.slice(comma + 1), maxBytes, loc)
}

function bytesOfBase64(text: string, maxBytes: number, loc: Loc): Buffer {
  if ((text.length * 3) / 4 > maxBytes + 3) throw tooLarge(maxBytes, loc)
  if (!/^[\w+/-]*={0,2}$/.test(text)) throw invalidInput(loc, 'is not base64')
  const bytes = Buffer.from(text, 'base64')
  if (bytes.length === 0) throw invalidInput(loc, 'is empty')
  if (bytes.length > maxBytes) throw tooLarge(maxBytes, loc)
  return bytes
}

function tooLarge(maxBytes: number, loc: Loc): AppError {
  return invalidInput(loc, `is larger than the ${maxBytes} bytes that are left for it`, 'too_large')
}

async function uploadedFile({ openFile }: PartSources, fileId: string, maxBytes: number, loc: Loc) {
  if (openFile === undefined) throw invalidInput(loc, 'there are no files here: send file_data', 'unsupported')
  const { name, size, bytes: source } = await openFile(fileId)
  if (size > maxBytes) {
    source.destroy()
    throw tooLarge(maxBytes, loc)
  }
  return { name, bytes: await buffer(source) }
}
