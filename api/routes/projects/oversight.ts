import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AnyKey } from '../../../domain/any-key.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { MadeBy, PathId, Timestamp, refusals, toMaker } from '../schemas.ts'

const config = { auth: 'user' } as const
const tags = ['projects']
const params = Type.Object({ project_id: PathId })

const sums = {
  runs: Type.Integer(),
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  cost: Type.Number(),
}
const MemberUsage = Type.Object(
  {
    member_id: Type.String(),
    user_id: Type.String(),
    name: Type.String({ description: 'Empty of a former member.' }),
    former: Type.Boolean({ description: 'Whether this person does not use the project any more.' }),
    ...sums,
  },
  { title: 'ProjectMemberUsage', about: 'What one of them has spent.' },
)
const ProjectUsage = Type.Object(
  {
    days: Type.Integer(),
    currency: Type.String(),
    members: Type.Array(MemberUsage),
    public: Type.Object(sums, {
      title: 'UsageSum',
      about: 'Runs, tokens and cost.',
      description: 'Of callers without an account.',
    }),
  },
  { title: 'ProjectUsage', about: 'What those who use a project have spent in it.' },
)

const AuditEntry = Type.Object(
  {
    entry_id: Type.String(),
    by: MadeBy,
    action: Type.String({ description: 'The operation, such as `assistants.put`.' }),
    subjects: Type.Array(Type.String(), { description: 'The ids in the path of the request.' }),
    count: Type.Integer({ description: 'Identical actions within a minute are one entry.' }),
    created_at: Timestamp,
    last_at: Timestamp,
  },
  { title: 'ProjectAuditEntry', about: 'Who has changed what.' },
)
const AuditPage = Type.Object(
  {
    entries: Type.Array(AuditEntry),
    has_more: Type.Boolean(),
    names: Type.Record(AnyKey, Type.String(), {
      description: 'By id: what the assistants, files and threads of the project are called that all of it see.',
    }),
  },
  { title: 'ProjectAuditPage', about: 'A page of what was changed in a project.' },
)

/** What owners of a project see of those who use it: what they spend, and what they have changed. */
export const oversightRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'projects' | 'projectUsage' | 'audit' | 'makers'>
> = async (app, { projects, projectUsage, audit, makers }) => {
  const authorizedProject = async (request: FastifyRequest, projectId: string) => {
    const { role = 'holder' } = request.routeOptions.config
    return projects.read(sessionOf(request).user, projectId, role)
  }

  app.get(
    '/projects/:project_id/usage',
    {
      config,
      schema: {
        operationId: 'projects.usage',
        summary:
          'What each member, and each former one, has spent in the project: counts and cost of the runs that exist',
        tags,
        params,
        querystring: Type.Object({ days: Type.Integer({ minimum: 1, maximum: 366, default: 30 }) }),
        response: { 200: ProjectUsage, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { days } = request.query
      const { members, ...usage } = await projectUsage(
        await authorizedProject(request, request.params.project_id),
        days,
      )
      const named = await makers(members.flatMap(({ user_id: id, former }) => (former ? [] : [id])))
      return {
        days,
        ...usage,
        members: members.map((member) => ({ ...member, name: named.get(member.user_id)?.name ?? '' })),
      }
    },
  )

  app.get(
    '/projects/:project_id/audit',
    {
      config,
      schema: {
        operationId: 'projects.audit',
        summary: 'Who has changed what in the project, newest first',
        tags,
        params,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
          before: Type.Optional(PathId),
        }),
        response: { 200: AuditPage, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const { _id: projectId, user_id: holderId } = await authorizedProject(request, request.params.project_id)
      const { limit, before } = request.query
      const page = await audit.list({ projectId, before }, limit)
      const [names, known] = await Promise.all([
        audit.namesInProject(page.entries, { projectId, holderId }),
        makers(page.entries.flatMap(({ user_id: id }) => id ?? [])),
      ])
      return {
        entries: page.entries.map(({ _id, user_id: userId, action, subjects, count, created_at, last_at }) => ({
          entry_id: _id,
          by: toMaker(known, userId),
          action,
          subjects,
          count,
          created_at: created_at.toISOString(),
          last_at: last_at.toISOString(),
        })),
        has_more: page.hasMore,
        names,
      }
    },
  )
}
