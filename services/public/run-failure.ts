import { AppError, errorCodes, httpStatusOf } from '../../domain/errors.ts'
import { publicRunError } from '../../domain/public-run-error.ts'
import type { RunError } from '../../domain/records/run.ts'

/** A failed run as the error of the request that waited for it; `cause` is what the caller may see of it. */
export function refusalOf(error: RunError): AppError {
  const shown = publicRunError(error)
  const code = errorCodes.find((candidate) => httpStatusOf[candidate] === shown.status_code) ?? 'internal'
  return new AppError(code, shown.message, { cause: shown })
}
