import { DefaultFailureConverter } from '@temporalio/common'

/**
 * Moves the message and the stack of failures into a payload, so that the codec encrypts them too. The client, the
 * worker and the workflow bundle load it by path.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true })
