import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { PublicCors } from '../../plugins/cors.ts'
import { PathId, refusals } from '../schemas.ts'
import { TokenHeader, tokensOf } from './caller.ts'
import { compatConfig } from './compat-route.ts'

const PublicFeedbackRequest = Type.Object(
  {
    score: Type.Enum([0, 1], { title: 'Thumb', about: 'Whether the answer helped.', description: '1: good, 0: bad.' }),
    value: Type.Optional(Type.String({ maxLength: 200, description: 'A reason, in a word.' })),
    comment: Type.Optional(Type.String({ maxLength: 2000 })),
  },
  { title: 'PublicFeedbackRequest', about: 'What a visitor says about an answer.' },
)

interface Deps {
  publicFamily: Pick<Services['publicFamily'], 'access' | 'findRun' | 'keepsChats'>
  feedback: Pick<Services['feedback'], 'submitOfVisitor'>
  cors: PublicCors
}

/** `POST /public/runs/{run_id}/feedback`: what a visitor says about an answer. */
export const publicFeedbackRoute: FastifyPluginAsyncTypebox<Deps> = async (app, { publicFamily, feedback, cors }) => {
  app.post(
    '/public/runs/:run_id/feedback',
    {
      config: compatConfig,
      schema: {
        operationId: 'public.runs.feedback',
        summary: 'Say whether the answer of a public run helped, if its assistant keeps chats',
        tags: ['public'],
        params: Type.Object({ run_id: PathId }),
        headers: TokenHeader,
        body: PublicFeedbackRequest,
        response: { 200: Type.Object({ status: Type.Literal('submitted') }), ...refusals(401, 403, 404, 503) },
      },
    },
    async (request, reply) => {
      const run = await publicFamily.findRun(request.params.run_id)
      const assistant = await cors.admit(request, reply, () =>
        publicFamily.access.byId(run.assistant_id, tokensOf(request)),
      )
      if (!publicFamily.keepsChats(assistant))
        throw new AppError('forbidden', 'This assistant keeps no feedback of its visitors.')
      await feedback.submitOfVisitor(run, { key: 'thumb', ...request.body })
      return { status: 'submitted' as const }
    },
  )
}
