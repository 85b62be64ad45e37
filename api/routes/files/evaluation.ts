import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type EvaluationRecord, type EvaluationRun, evaluationLimits } from '../../../domain/records/evaluation.ts'
import { sharesOf } from '../../../services/knowledge/evaluation.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { Timestamp, refusals } from '../schemas.ts'
import { FilesParams } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['files']

const expected = {
  question: Type.String({ minLength: 1, maxLength: evaluationLimits.questionLength, pattern: '\\S' }),
  file_name: Type.String({
    minLength: 1,
    maxLength: evaluationLimits.nameLength,
    description: 'The file that answers the question.',
  }),
  page: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'The page that answers it, from 1.' }),
  ),
}

const EvaluationRequest = Type.Object(
  { questions: Type.Array(Type.Object(expected), { maxItems: evaluationLimits.questions }) },
  { title: 'EvaluationRequest', about: 'Questions with the place that answers each.' },
)

const Share = Type.Number({ minimum: 0, maximum: 1 })

const EvaluationRunSchema = Type.Object(
  {
    created_at: Timestamp,
    embedding_model: Type.String(),
    files: Type.Integer({ description: 'How many files were ready.' }),
    right: Type.Object(
      { first: Share, five: Share, ten: Share },
      {
        description: 'The shares of the questions with a right passage in the first place, among five, and among ten.',
      },
    ),
    places: Type.Array(
      Type.Object({
        question_id: Type.String(),
        place: Type.Integer({ minimum: 0, description: 'Of the first right passage, from 1; 0: none among ten.' }),
      }),
    ),
  },
  { title: 'EvaluationRun', about: 'What was found for the questions at one time.' },
)

const EvaluationSchema = Type.Object(
  {
    questions: Type.Array(
      Type.Object({
        question_id: Type.String({ description: 'The same for the same question, file and page.' }),
        ...expected,
      }),
    ),
    runs: Type.Array(EvaluationRunSchema, { description: `The newest first, at most ${evaluationLimits.runs}.` }),
  },
  {
    title: 'Evaluation',
    about: 'Questions with the place that answers each, and what was found each time that they were asked.',
  },
)

/** `/assistants/{aid}/evaluation`: what an owner expects to be found in the files, and what is. */
export const evaluationRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'evaluation'>> = async (
  app,
  { assistants, evaluation },
) => {
  app.get(
    '/assistants/:aid/evaluation',
    {
      config,
      schema: {
        operationId: 'evaluation.read',
        summary: 'Questions with the file and page that answer them, and what was found each time',
        tags,
        params: FilesParams,
        response: { 200: EvaluationSchema, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      return show(await evaluation.read(assistant._id))
    },
  )

  app.put(
    '/assistants/:aid/evaluation',
    {
      config,
      schema: {
        operationId: 'evaluation.put',
        summary: 'Replace the questions; what was found before stays',
        tags,
        params: FilesParams,
        body: EvaluationRequest,
        response: { 200: EvaluationSchema, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      return show(await evaluation.replace(assistant, request.body.questions))
    },
  )

  app.post(
    '/assistants/:aid/evaluation/runs',
    {
      config: { ...config, limits: ['runs_user'] },
      schema: {
        operationId: 'evaluation.run',
        summary: 'Search for each question as the tool retrieval does, and keep what was found',
        tags,
        params: FilesParams,
        response: { 200: EvaluationRunSchema, ...refusals(400, 401, 403, 404, 503) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(longestRunMs)])
      return toRun(await evaluation.run(assistant, signal))
    },
  )
}

const longestRunMs = 120_000

function show({ questions, runs }: Pick<EvaluationRecord, 'questions' | 'runs'>): Static<typeof EvaluationSchema> {
  return {
    questions: questions.map(({ question_id, question, file_name, page }) => ({
      question_id,
      question,
      file_name,
      ...(page === undefined ? {} : { page }),
    })),
    runs: runs.map(toRun),
  }
}

function toRun(run: EvaluationRun): Static<typeof EvaluationRunSchema> {
  const { created_at: at, embedding_model, files, places } = run
  return {
    created_at: at.toISOString(),
    embedding_model,
    files,
    right: sharesOf(run),
    places: places.map(({ question_id, place }) => ({ question_id, place })),
  }
}
