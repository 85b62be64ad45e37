import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type PromptRecord, promptLimits } from '../../../domain/records/prompt.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { accountBodyBytes } from '../../plugins/body-limits.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { Message } from '../auth/schemas.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'

const PromptRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: promptLimits.nameLength, description: 'How you find it.' }),
    text: Type.String({ minLength: 1, maxLength: promptLimits.textLength, description: 'What a message begins with.' }),
  },
  { title: 'PromptRequest' },
)

const Prompt = Type.Object(
  {
    prompt_id: Type.String(),
    name: Type.String(),
    text: Type.String(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Prompt' },
)

const params = Type.Object({ prompt_id: PathId })
const config = { auth: 'user' } as const
const tags = ['prompts']

/** `/user/prompts`: texts that the user keeps, in whichever project they work. */
export const promptRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'prompts'>> = async (app, { prompts }) => {
  app.get(
    '/user/prompts',
    {
      config,
      schema: {
        operationId: 'prompts.list',
        summary: 'Your prompts, by name',
        tags,
        response: { 200: Type.Array(Prompt), ...refusals(401) },
      },
    },
    async (request) => (await prompts.list(sessionOf(request).user._id)).map(show),
  )

  app.post(
    '/user/prompts',
    {
      config: { ...config, idempotent: true },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'prompts.create',
        summary: `Keep a prompt; an account has at most ${promptLimits.prompts}`,
        tags,
        body: PromptRequest,
        response: { 200: Prompt, ...refusals(400, 401, 403) },
      },
    },
    async (request) => {
      const userId = sessionOf(request).user._id
      return show(
        await once(request, {
          create: (id) => prompts.create(userId, request.body, id),
          find: (id) => orNull(prompts.read(userId, id)),
        }),
      )
    },
  )

  app.put(
    '/user/prompts/:prompt_id',
    {
      config,
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'prompts.put',
        summary: 'Change a prompt',
        tags,
        params,
        body: PromptRequest,
        response: { 200: Prompt, ...refusals(400, 401, 404) },
      },
    },
    async (request) => show(await prompts.replace(sessionOf(request).user._id, request.params.prompt_id, request.body)),
  )

  app.delete(
    '/user/prompts/:prompt_id',
    {
      config,
      schema: {
        operationId: 'prompts.delete',
        summary: 'Delete a prompt',
        tags,
        params,
        response: { 200: Message, ...refusals(401, 404) },
      },
    },
    async (request) => {
      await prompts.remove(sessionOf(request).user._id, request.params.prompt_id)
      return { message: 'The prompt is deleted.' }
    },
  )
}

function show({ _id, name, text, created_at, updated_at }: PromptRecord): Static<typeof Prompt> {
  return {
    prompt_id: _id,
    name,
    text,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
