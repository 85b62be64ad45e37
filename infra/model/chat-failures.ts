import { ModelFailure } from '../../domain/model-failure.ts'

/** A member of the request that its caller set. The words of the server are kept. */
export function notTaken(name: string, failure?: unknown): ModelFailure {
  return new ModelFailure(`The model does not take \`${name}\`.`, {
    statusCode: 400,
    type: 'model_refused_request',
    ...(failure instanceof ModelFailure && failure.details !== undefined ? { details: failure.details } : {}),
    retryable: false,
    cause: failure,
  })
}

export function brokenOff(): ModelFailure {
  return new ModelFailure("The model's answer was interrupted.", {
    statusCode: 502,
    type: 'model_connection_error',
    retryable: true,
  })
}
