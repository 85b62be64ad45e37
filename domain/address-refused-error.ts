import { AppError } from './errors.ts'

/**
 * An address that may not be reached, or a name that does not exist. The message does not say which, nor what a name
 * resolved to: that would let a caller explore our network.
 */
export class AddressRefusedError extends AppError {
  /** Whether it is the address of a name, which may exist later. */
  readonly isOfName: boolean

  constructor(message = 'This address does not exist or is not allowed.', isOfName = false) {
    super('forbidden', message)
    this.name = 'AddressRefusedError'
    this.isOfName = isOfName
  }
}
