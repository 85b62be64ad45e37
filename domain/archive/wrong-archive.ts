import { type AppError, invalidInput } from '../errors.ts'

/** The 422 of an archive that is damaged, or of another kind. */
export function wrongArchive(reason: string): AppError {
  return invalidInput(['body'], `is not an archive that this service can import: ${reason}`, 'invalid_archive')
}
