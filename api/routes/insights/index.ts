import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { callerOf, ownerOf } from '../../plugins/authentication.ts'
import { NewestPage, linkNextPart } from '../paging.ts'
import { PathId, Timestamp, nullable, refusals } from '../schemas.ts'

const params = Type.Object({ aid: PathId })
const config = { auth: 'project' } as const
const tags = ['assistants']
const count = (description: string) => Type.Integer({ minimum: 0, description })

const VisitorChat = Type.Object(
  {
    thread_id: Type.String(),
    question: Type.String({ description: 'The first one.' }),
    runs: count('Answers.'),
    failed: count('Those that failed.'),
    up: count('Thumbs up.'),
    down: count('Thumbs down.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'VisitorChat', about: 'A chat of a public caller.' },
)

const AssistantFeedback = Type.Object(
  {
    feedback_id: Type.String(),
    by_visitor: Type.Boolean({ description: 'By a public caller.' }),
    thread_id: Type.String(),
    key: Type.String({ description: 'What it is about; `thumb` from the console and from visitors.' }),
    score: nullable(Type.Number({ description: '1: good, 0: bad.' })),
    reason: nullable(Type.String()),
    comment: nullable(Type.String()),
    question: nullable(Type.String({ description: 'Null: of a chat that you do not see.' })),
    answer: nullable(Type.String()),
    created_at: Timestamp,
  },
  { title: 'AssistantFeedback', about: 'What somebody said about an answer.' },
)

const OpenQuestion = Type.Object(
  {
    question: Type.String({ description: 'As it was asked last.' }),
    count: count('How often it was asked, in about the same words.'),
    not_found: count('How often the search in the files found nothing.'),
    failed: count('How often the run failed.'),
    disliked: count('How often the answer was disliked.'),
    thread_ids: Type.Array(Type.String()),
    asked_at: Timestamp,
  },
  { title: 'OpenQuestion', about: 'A question of public callers that was not answered well.' },
)

const listed = { ...refusals(401, 403, 404) }

/** `/assistants/{aid}/insights`: what its owner sees of how an assistant is used. */
export const insightRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'insights'>> = async (
  app,
  { assistants, insights },
) => {
  app.get(
    '/assistants/:aid/insights/chats',
    {
      config,
      schema: {
        operationId: 'insights.chats',
        summary: 'Chats of visitors, if the assistant says that it keeps them; those used last first',
        tags,
        params,
        querystring: NewestPage,
        response: { 200: Type.Array(VisitorChat), ...listed },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const page = await insights.chats(assistant, request.query)
      linkNextPart(request, reply, page)
      return page.entries.map(({ threadId, createdAt, updatedAt, ...counts }) => ({
        thread_id: threadId,
        ...counts,
        created_at: createdAt.toISOString(),
        updated_at: updatedAt.toISOString(),
      }))
    },
  )

  app.get(
    '/assistants/:aid/insights/chats/:thread_id',
    {
      config,
      schema: {
        operationId: 'insights.chat',
        summary: 'The messages of a chat of a visitor, if the assistant says that it keeps them',
        tags,
        params: Type.Object({ aid: PathId, thread_id: PathId }),
        response: {
          200: Type.Array(
            Type.Object(
              { by_visitor: Type.Boolean(), text: Type.String() },
              { title: 'VisitorMessage', about: 'What was asked or answered in it.' },
            ),
          ),
          ...listed,
        },
      },
    },
    async (request) => {
      const { aid, thread_id: threadId } = request.params
      const assistant = await assistants.readOwn(ownerOf(request), aid)
      const messages = await insights.chat(assistant, threadId)
      return messages.map(({ isPerson, text }) => ({ by_visitor: isPerson, text }))
    },
  )

  app.get(
    '/assistants/:aid/insights/feedback',
    {
      config,
      schema: {
        operationId: 'insights.feedback',
        summary: 'What people said about answers, the newest first',
        tags,
        params,
        querystring: NewestPage,
        response: { 200: Type.Array(AssistantFeedback), ...listed },
      },
    },
    async (request, reply) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const page = await insights.feedback(callerOf(request), assistant, request.query)
      linkNextPart(request, reply, page)
      return page.entries.map((one) => ({
        feedback_id: one.feedbackId,
        by_visitor: one.isVisitor,
        thread_id: one.threadId,
        key: one.key,
        score: one.score ?? null,
        reason: one.reason ?? null,
        comment: one.comment ?? null,
        question: one.question ?? null,
        answer: one.answer ?? null,
        created_at: one.createdAt.toISOString(),
      }))
    },
  )

  app.get(
    '/assistants/:aid/insights/open-questions',
    {
      config,
      schema: {
        operationId: 'insights.openQuestions',
        summary: 'Questions of visitors that were not answered well, put together by their words',
        tags,
        params,
        response: { 200: Type.Array(OpenQuestion), ...listed },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const groups = await insights.openQuestions(assistant)
      return groups.map(({ question, count: asked, reasons, threadIds, askedAt }) => ({
        question,
        count: asked,
        ...reasons,
        thread_ids: threadIds,
        asked_at: askedAt.toISOString(),
      }))
    },
  )
}
