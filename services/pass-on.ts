import { AppError } from '../domain/errors.ts'

interface Ways {
  /** Safe to repeat. */
  sync(id: string): Promise<void>
  onError(error: unknown): void
}

/**
 * Tells Temporal of a change that is stored. While Temporal is away the change is made nevertheless, because the sweep of
 * a worker passes it on. `undo` takes one back that Temporal refuses.
 */
export async function passOn({ sync, onError }: Ways, id: string, undo?: () => Promise<unknown>): Promise<void> {
  try {
    await sync(id)
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return onError(error)
    if (error instanceof AppError && error.code === 'invalid_input') await undo?.()
    throw error
  }
}
