import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AppError } from '../../../domain/errors.ts'
import type { ProjectRecord } from '../../../domain/records/project.ts'
import type { Grouped } from '../../../services/owner.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { once, orNull } from '../../plugins/idempotency.ts'
import { ListPage, linkNextPart } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { Project, ProjectCreateRequest, ProjectToken, ProjectUpdateRequest, toProject } from './schemas.ts'

const params = Type.Object({ project_id: PathId })
const config = { auth: 'user' } as const
const tags = ['projects']

/**
 * `/projects`: the caller's workspaces, and those that others share with him. A token of an own one gives access to all of
 * the own; that of a shared one gives access to that one.
 */
export const projectRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'projects' | 'tokens' | 'handOver'>> = async (
  app,
  { projects, tokens, handOver },
) => {
  async function seen(user: Grouped, project: ProjectRecord) {
    const [found] = await projects.seenBy(user, [project])
    if (found === undefined) throw new AppError('internal', 'the project was not shown')
    return toProject(found)
  }

  app.get(
    '/projects/',
    {
      config,
      schema: {
        operationId: 'projects.list',
        summary: 'Your projects and those that are shared with you, oldest first; the header Link names the next page',
        tags,
        querystring: ListPage,
        response: { 200: Type.Array(Project), ...refusals(401) },
      },
    },
    async (request, reply) => {
      const { user } = sessionOf(request)
      const page = await projects.list(user, request.query)
      linkNextPart(request, reply, page)
      return (await projects.seenBy(user, page.entries)).map(toProject)
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
      const { user } = sessionOf(request)
      const project = await once(request, {
        create: (id) => projects.create(user._id, request.body, id),
        find: (id) => orNull(projects.read(user, id, 'viewer')),
      })
      return seen(user, project)
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
      const project = await projects.read(user, request.params.project_id, 'viewer')
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
    async (request) => {
      const { user } = sessionOf(request)
      return seen(user, await projects.update(user, request.params.project_id, request.body))
    },
  )

  app.put(
    '/projects/:project_id/holder',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.setHolder',
        summary: 'Give the project to the account of another owner; you stay an owner of it',
        tags,
        params,
        body: Type.Object(
          { member_id: Type.String({ minLength: 1, maxLength: 128, description: 'An owner of the project.' }) },
          { title: 'ProjectHolderRequest', about: 'The owner to whose account a project goes.' },
        ),
        response: { 200: Project, ...refusals(401, 403, 404, 409, 413) },
      },
    },
    async (request) => {
      const { user } = sessionOf(request)
      return seen(user, await handOver.toMember(user._id, request.params.project_id, request.body.member_id))
    },
  )
}
