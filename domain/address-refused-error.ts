import { AppError } from './errors.ts'

/** An address that may not be reached. Says nothing about what a name resolved to: that would let a caller explore our network. */
export class AddressRefusedError extends AppError {
  constructor(message = 'This address may not be reached from here.') {
    super('forbidden', message)
    this.name = 'AddressRefusedError'
  }
}
