import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { Project, ProjectCreateRequest, ProjectToken, ProjectUpdateRequest, showProject } from './schemas.ts'

const params = Type.Object({ project_id: PathId })
const config = { auth: 'user' } as const
const tags = ['projects']

/** `/projects`: the caller's workspaces. A token of any of them gives access to all of these. */
export const projectRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'projects' | 'tokens'>> = async (
  app,
  { projects, tokens },
) => {
  app.get(
    '/projects/',
    {
      config,
      schema: {
        operationId: 'projects.list',
        summary: 'Your projects, oldest first; the header Link names the next page',
        tags,
        querystring: ListPage,
        response: { 200: Type.Array(Project), ...refusals(401) },
      },
    },
    async (request, reply) => {
      const page = await projects.list(sessionOf(request).user._id, request.query)
      linkNextPart(request, reply, page)
      return page.entries.map(showProject)
    },
  )

  app.post(
    '/projects/',
    {
      config: { ...config, idempotent: true, audit: 'successes' },
      schema: {
        operationId: 'projects.create',
        summary: 'Create a project',
        tags,
        body: ProjectCreateRequest,
        response: { 200: Project, ...refusals(400, 401) },
      },
    },
    async (request) => {
      const userId = sessionOf(request).user._id
      return showProject(
        await once(request, {
          create: (id) => projects.create(userId, request.body, id),
          find: (id) => orNull(projects.read(userId, id)),
        }),
      )
    },
  )

  app.get(
    '/projects/:project_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.token',
        summary: 'A token that is pinned to this project',
        tags,
        params,
        response: { 200: ProjectToken, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { user, loginId } = sessionOf(request)
      const project = await projects.read(user._id, request.params.project_id)
      // A token that a program's login gets ends with that login.
      const claims = { user_id: user._id, project_id: project._id, ...(loginId !== undefined && { login_id: loginId }) }
      return { jwt_token: await tokens.sign(claims) }
    },
  )

  app.put(
    '/projects/:project_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.update',
        summary: 'Change name or description',
        tags,
        params,
        body: ProjectUpdateRequest,
        response: { 200: Project, ...refusals(400, 401, 403, 404) },
      },
    },
    async (request) =>
      showProject(await projects.update(sessionOf(request).user._id, request.params.project_id, request.body)),
  )
}
