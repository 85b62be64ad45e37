import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { type PromptRecord, promptLimits } from '../../../domain/records/prompt.ts'
import { callerOf, sessionOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { Message } from '../auth/schemas.ts'
import { MadeBy, type Makers, PathId, Timestamp, refusals, toMaker } from '../schemas.ts'

const PromptRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: promptLimits.nameLength, description: 'How you find it.' }),
    text: Type.String({ minLength: 1, maxLength: promptLimits.textLength, description: 'What a message begins with.' }),
  },
  { title: 'PromptRequest', about: 'A prompt to keep.' },
)

const Prompt = Type.Object(
  {
    prompt_id: Type.String(),
    name: Type.String(),
    text: Type.String(),
    project_id: Type.Union([Type.String(), Type.Null()], { description: 'The project with which it is shared.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Prompt', about: 'A prompt of the user.' },
)

const SharedPrompt = Type.Object(
  { ...Prompt.properties, created_by: MadeBy },
  { title: 'SharedPrompt', about: 'A prompt that members of a project share.' },
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

const ofProject = { auth: 'project' } as const

/** `/prompts/`: those that the members of a project share with each other. */
export const sharedPromptRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'prompts' | 'makers'>> = async (
  app,
  { prompts, makers },
) => {
  app.get(
    '/prompts/',
    {
      config: ofProject,
      schema: {
        operationId: 'prompts.shared.list',
        summary: 'The prompts that are shared with the project, by name',
        tags,
        response: { 200: Type.Array(SharedPrompt), ...refusals(401, 403) },
      },
    },
    async (request) => {
      const found = await prompts.listShared(callerOf(request))
      const known = await makers(found.map(({ user_id: id }) => id))
      return found.map((prompt) => toSharedPrompt(prompt, known))
    },
  )

  app.post(
    '/prompts/:prompt_id/share',
    {
      config: ofProject,
      schema: {
        operationId: 'prompts.shared.create',
        summary: `Share a prompt of yours with the project; one has at most ${promptLimits.inProject}`,
        tags,
        params,
        response: { 200: Prompt, ...refusals(401, 403, 404) },
      },
    },
    async (request) => show(await prompts.share(callerOf(request), request.params.prompt_id)),
  )

  app.put(
    '/prompts/:prompt_id',
    {
      config: ofProject,
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'prompts.shared.put',
        summary: 'Change a prompt of the project: your own, or as an editor anyone’s',
        tags,
        params,
        body: PromptRequest,
        response: { 200: Prompt, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) => show(await prompts.replaceShared(callerOf(request), request.params.prompt_id, request.body)),
  )

  app.delete(
    '/prompts/:prompt_id/share',
    {
      config: ofProject,
      schema: {
        operationId: 'prompts.shared.delete',
        summary: 'Share it with the project no longer; it stays its maker’s own',
        tags,
        params,
        response: { 200: Message, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      await prompts.unshare(callerOf(request), request.params.prompt_id)
      return { message: 'The prompt is no longer shared.' }
    },
  )
}

const toSharedPrompt = (prompt: PromptRecord, known: Makers): Static<typeof SharedPrompt> => ({
  ...show(prompt),
  created_by: toMaker(known, prompt.user_id),
})

function show({ _id, project_id, name, text, created_at, updated_at }: PromptRecord): Static<typeof Prompt> {
  return {
    prompt_id: _id,
    name,
    text,
    project_id: project_id ?? null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
