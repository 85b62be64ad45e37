import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { Message } from '../auth/schemas.ts'
import { PathId, refusals } from '../schemas.ts'
import { Thread, makerOf, toThread } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['threads']
const after = Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
  description: 'The id of the message that the question follows; null for the first question.',
})
const SideRequest = Type.Object(
  { after },
  { title: 'SideRequest', about: 'From where another model answers beside the thread.' },
)

/** Threads beside another one, in which other models answer the same question. */
export const sideRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'threads' | 'makers'>> = async (
  app,
  { threads, makers },
) => {
  app.post(
    '/threads/:tid/sides',
    {
      config,
      schema: {
        operationId: 'threads.sides.create',
        summary: 'Make a thread in which another model answers the same question at the same time',
        description:
          'It has what was said up to a message. It is in no list, counts against no quota, and is deleted with the thread; `POST /threads/{tid}/sides/{side_id}/take` brings its answer.',
        tags,
        params: Type.Object({ tid: PathId }),
        body: SideRequest,
        response: { 200: Thread, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const thread = await threads.createSide(callerOf(request), request.params.tid, request.body.after)
      return toThread(thread, await makers([makerOf(thread)], [sessionOf(request).user]))
    },
  )

  app.post(
    '/threads/:tid/sides/:side_id/take',
    {
      config,
      schema: {
        operationId: 'threads.sides.take',
        summary: 'Take the newest answer of a side, with its question, as another version',
        description: 'Repeated, it changes nothing. 409 while the answer is being written, or if there is none.',
        tags,
        params: Type.Object({ tid: PathId, side_id: PathId }),
        body: SideRequest,
        response: { 200: Message, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { tid, side_id: side } = request.params
      await threads.takeSide(callerOf(request), tid, side, request.body.after)
      return { message: 'The answer is a version of the thread.' }
    },
  )
}
