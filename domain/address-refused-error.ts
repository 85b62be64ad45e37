import { AppError } from './errors.ts'

/**
 * An address that may not be reached. The message does not say what a name resolved to: that would let a caller
 * explore our network.
 */
export class AddressRefusedError extends AppError {
  constructor(message = 'This address is not allowed.') {
    super('forbidden', message)
    this.name = 'AddressRefusedError'
  }
}
