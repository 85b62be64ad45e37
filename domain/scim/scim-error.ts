import { AppError } from '../errors.ts'

/** Detail codes of errors (RFC 7644, section 3.12). */
type ScimType =
  | 'invalidFilter'
  | 'uniqueness'
  | 'mutability'
  | 'invalidSyntax'
  | 'invalidPath'
  | 'noTarget'
  | 'invalidValue'

/** An error that names what is wrong as SCIM does. */
export class ScimError extends AppError {
  readonly scimType: ScimType

  constructor(scimType: ScimType, message: string) {
    super(scimType === 'uniqueness' ? 'conflict' : 'bad_request', message)
    this.scimType = scimType
  }
}
