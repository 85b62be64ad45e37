import { ServiceError, WorkflowUpdateRPCTimeoutOrCancelledError, isGrpcServiceError } from '@temporalio/client'
import { AppError } from '../../domain/errors.ts'

/** Whether Temporal did not answer a call, or refused it for no reason that has a class of its own. */
export function isUnanswered(error: unknown): boolean {
  return (
    error instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
    error instanceof ServiceError ||
    isGrpcServiceError(error)
  )
}

export function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', 'The service is busy or partly down; try again soon.', {
    cause,
    retryAfterSeconds: 5,
  })
}
