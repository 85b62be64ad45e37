import { DefaultFailureConverter } from '@temporalio/common'

/**
 * Moves the message and the stack of failures into a payload, so that the codec encrypts them too.
 * Loaded by path, by the client, the worker and the workflow bundle alike.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
