import { ApplicationFailure } from '@temporalio/common'
import {
  type Client,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  isGrpcServiceError,
} from '@temporalio/client'
import { AppError } from '../../domain/errors.ts'

const defaultLimitMs = 4_000
const limits = new WeakMap<Client, number>()

/** Sets how long the calls of this client may take. */
export function limitCalls(client: Client, limitMs: number): void {
  limits.set(client, limitMs)
}

/** A call to Temporal that ends within the client's limit; when nobody answers it throws `unavailable`. */
export async function callTemporal<T>(client: Client, call: () => Promise<T>): Promise<T> {
  try {
    return await client.withDeadline(Date.now() + (limits.get(client) ?? defaultLimitMs), call)
  } catch (cause) {
    if (
      cause instanceof WorkflowUpdateRPCTimeoutOrCancelledError ||
      cause instanceof ServiceError ||
      isGrpcServiceError(cause)
    ) {
      throw new AppError('unavailable', 'The service is busy or partly down; try again soon.', {
        cause,
        retryAfterSeconds: 5,
      })
    }
    throw cause
  }
}

/** The result of a call to a workflow, or undefined when that workflow is not there or has ended. */
export async function unlessEnded<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (error instanceof WorkflowNotFoundError || isCutOff(error)) return undefined
    throw error
  }
}

/** Whether an update was refused by its workflow, or failed there, with a failure of this type. */
export function isRefusal(error: unknown, type: string): boolean {
  return (
    error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure && error.cause.type === type
  )
}

/** An update that was taken, but whose workflow was ended from outside before it could answer. */
const isCutOff = (error: unknown) => isRefusal(error, 'AcceptedUpdateCompletedWorkflow')
