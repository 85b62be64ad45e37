import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Services } from '../../../../composition/platform.ts'
import { AppError } from '../../../../domain/errors.ts'
import { newId } from '../../../../domain/ids.ts'
import { ownerRunError } from '../../../../domain/public-run-error.ts'
import type { RunRecord } from '../../../../domain/records/run.ts'
import type { NewResponse } from '../../../../services/v1/responses/index.ts'
import type { OpenStreams } from '../../../sse/event-stream.ts'
import { endOf, waitForEnd } from '../../public/run-end.ts'
import { messagesOf } from './stream-response.ts'

interface SummariseDeps {
  responses: Services['v1']['responses']
  openStreams: OpenStreams
  request: FastifyRequest
  reply: FastifyReply
}

/** Has a model summarise what a request brings, and keeps nothing of it. Throws what the run failed with. */
export async function summarise(
  { responses, openStreams, request, reply }: SummariseDeps,
  caller: { userId: string; projectId: string },
  requested: NewResponse,
): Promise<{ summary: string; run: RunRecord }> {
  const { run, feed } = await responses.create(caller, requested, newId(), async () => undefined)
  try {
    const end = await waitForEnd(feed, reply, openStreams, { toError: ownerRunError })
    const last = messagesOf(end).findLast((message) => message.type === 'AIMessage')
    const summary = last?.data.content.trim() ?? ''
    if (summary === '') throw new AppError('upstream_failed', 'The model has not summarised the conversation.')
    return { summary, run: await responses.reread(run) }
  } finally {
    await responses
      .forget(run, { isOver: endOf(feed.view) !== undefined })
      .catch((error: unknown) => request.log.warn({ err: error }, 'the run of a summary stays for now'))
  }
}
