import type { FastifyRequest } from 'fastify'
import { cutText } from '../../../domain/cut-text.ts'
import { invalidInput } from '../../../domain/errors.ts'
import { type UploadPart, brokenOff } from '../../../services/knowledge/upload.ts'

/**
 * The size of files is not limited, their number is (`requestLimits.uploadFiles`), where they are received. Fields are
 * ignored, but kept in memory until the upload has ended.
 */
export const uploadLimits = { fileSize: Infinity, files: Infinity, parts: Infinity, fields: 100, fieldSize: 16 * 1024 }

/**
 * The file parts of a multipart request, one after the other as they arrive; other fields are ignored. Throws 400
 * for a malformed body and 422 for one without files.
 */
export async function* filePartsOf(request: FastifyRequest): AsyncGenerator<UploadPart> {
  let found = false
  // The parser waits for the end of the request, which never comes if the request broke off before the parser was
  // installed.
  if (request.raw.destroyed) throw brokenOff(new Error('the connection was closed'))
  try {
    for await (const part of request.parts({ limits: uploadLimits })) {
      if (part.type !== 'file') continue
      found = true
      yield { name: nameOf(part.filename), contentType: part.mimetype, content: part.file }
    }
  } catch (error) {
    throw brokenOff(error)
  }
  if (!found) throw invalidInput(['body', 'files'], 'at least one file is required', 'missing')
}

/**
 * Removes characters that a display or a log could misinterpret, and writes accents in one way, however the system of the
 * sender does. Joiners stay: words of some scripts, and some pictures, consist of them.
 */
export function nameOf(filename: string | undefined): string {
  const name = (filename ?? '')
    .replace(/(?![\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/gu, '')
    .normalize('NFC')
    .trim()
  return name === '' ? 'file' : cutText(name, 512)
}
