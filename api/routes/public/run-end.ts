import type { FastifyReply } from 'fastify'
import { AppError } from '../../../domain/errors.ts'
import { publicRunError } from '../../../domain/public-run-error.ts'
import type { RunError } from '../../../domain/records/run.ts'
import type { RunView, Terminal } from '../../../domain/run-events.ts'
import { refusalOf } from '../../../services/public/run-failure.ts'
import type { RunFeed } from '../../../services/runs/index.ts'
import type { CompatErrorObject } from '../../plugins/compat-errors.ts'
import type { OpenStreams } from '../../sse/event-stream.ts'

type End = Exclude<Terminal, { type: 'interrupted' }>

type ToError = typeof publicRunError

/** How a run ended, as its callers are told; undefined while it waits for its owner's approval. */
export function endOf({ terminal }: RunView, toError: ToError = publicRunError): End | undefined {
  if (terminal === undefined || terminal.type === 'interrupted') return undefined
  return terminal.type === 'error' ? { type: 'error', error: toError(terminal.error) } : terminal
}

/**
 * Waits for the end of a run and returns its last state. Throws its error, or `unavailable` if the service shuts
 * down first. If the client disconnects, the waiting ends and the run continues.
 */
export async function waitForEnd(
  feed: RunFeed,
  reply: FastifyReply,
  openStreams: OpenStreams,
  {
    onChange,
    toError,
    isAnswer = () => false,
  }: {
    onChange?: (view: RunView) => void
    toError?: ToError
    /** Errors that the caller shows as an answer. */
    isAnswer?: (error: RunError) => boolean
  } = {},
): Promise<RunView> {
  const ending = Promise.withResolvers<RunView>()
  const inspect = () => {
    const end = endOf(feed.view, toError)
    if (end?.type === 'error' && !isAnswer(end.error)) ending.reject(refusalOf(end.error))
    else if (end !== undefined) ending.resolve(feed.view)
    else onChange?.(feed.view)
  }
  const leave = () => ending.reject(new AppError('cancelled', 'The client went away.'))
  const unlisten = feed.onChange(inspect)
  reply.raw.once('close', leave)
  openStreams.track(
    ending.promise.then(
      () => undefined,
      () => undefined,
    ),
    () => ending.reject(new AppError('unavailable', 'The service is shutting down. Try again.')),
  )
  inspect()
  if (reply.raw.destroyed) leave()
  try {
    return await ending.promise
  } finally {
    unlisten()
    reply.raw.off('close', leave)
    feed.close()
  }
}

/** The error of a stream that ends before its run. */
export const brokenStream = {
  closing: failure('The service is shutting down. Try again.', 'service_closing'),
  failed: failure('Something went wrong on our side.', 'internal_error'),
  contradicted: failure('The answer was restarted after a failure and differs from what was sent.', 'answer_changed'),
} as const satisfies Record<string, CompatErrorObject>

function failure(message: string, code: string): CompatErrorObject {
  return { message, type: 'server_error', param: null, code }
}
