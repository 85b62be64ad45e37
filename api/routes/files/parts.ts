import type { FastifyRequest } from 'fastify'
import { invalidInput } from '../../../domain/errors.ts'
import { type UploadPart, brokenOff } from '../../../services/knowledge/uploads.ts'

/** Nothing limits a file, nor their number. Fields are passed over, but held until the upload is over. */
const limits = { fileSize: Infinity, files: Infinity, parts: Infinity, fields: 100, fieldSize: 16 * 1024 }

/**
 * The file parts of a multipart request, one after the other as they arrive; other fields are passed
 * over. Throws 400 for a body that is not well formed and 422 for one without files.
 */
export async function* filePartsOf(request: FastifyRequest): AsyncGenerator<UploadPart> {
  let found = false
  try {
    for await (const part of request.parts({ limits })) {
      if (part.type !== 'file') continue
      found = true
      yield { name: nameOf(part.filename), contentType: part.mimetype, content: part.file }
    }
  } catch (error) {
    throw brokenOff(error)
  }
  if (!found) throw invalidInput(['body', 'files'], 'at least one file is required', 'missing')
}

/** Part of a name that a display or a log could take for something else is left out. */
function nameOf(filename: string | undefined): string {
  const name = (filename ?? '').replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '').trim()
  return name === '' ? 'file' : name.slice(0, 512)
}
