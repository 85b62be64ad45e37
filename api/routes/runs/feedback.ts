import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { requestLimits } from '../../../domain/limits.ts'
import { callerOf } from '../../plugins/authentication.ts'
import { once } from '../../plugins/idempotency.ts'
import { PathId, freeForm, refusals } from '../schemas.ts'

const FeedbackCreateRequest = Type.Object(
  {
    run_id: PathId,
    key: Type.String({ minLength: 1, maxLength: 180, description: 'What the feedback is about, such as `helpful`.' }),
    score: Type.Optional(Type.Union([Type.Number(), Type.Boolean()])),
    value: Type.Optional(
      Type.Union(
        [Type.String({ maxLength: requestLimits.textLength }), Type.Number(), Type.Boolean(), freeForm('Any object.')],
        {
          description: 'A value that is not a number.',
        },
      ),
    ),
    comment: Type.Optional(Type.String({ maxLength: 10_000 })),
  },
  { title: 'FeedbackCreateRequest', about: 'Feedback on a run, for the tracing service.' },
)

/** `POST /runs/feedback` */
export const feedbackRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'feedback'>> = async (app, { feedback }) => {
  app.post(
    '/runs/feedback',
    {
      config: { auth: 'project', idempotent: true },
      schema: {
        operationId: 'runs.feedback',
        summary: 'Give feedback on a run; it is stored and sent to the tracing service',
        tags: ['runs'],
        body: FeedbackCreateRequest,
        response: {
          200: Type.Object({ status: Type.Literal('submitted'), feedback_id: Type.String() }),
          ...refusals(401, 403, 404, 503),
        },
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const stored = await once(request, {
        create: (id) => feedback.submit(caller, request.body, id),
        find: (id) => feedback.find(caller.userId, id),
      })
      return { status: 'submitted' as const, feedback_id: stored._id }
    },
  )
}
