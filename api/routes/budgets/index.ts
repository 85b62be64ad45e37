import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { BudgetLimits } from '../../../domain/records/budget.ts'
import type { BudgetView } from '../../../services/budgets/index.ts'
import type { BudgetSubject } from '../../../services/budgets/spent-today.ts'
import { ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { PathId, nullable, refusals } from '../schemas.ts'

const count = Type.Integer({ minimum: 0, maximum: 1e12 })
const money = Type.Number({ minimum: 0, maximum: 1e12 })

const BudgetRequest = Type.Object(
  {
    runs: Type.Optional(nullable(count)),
    tokens: Type.Optional(nullable(count)),
    money: Type.Optional(nullable(money)),
  },
  { title: 'BudgetRequest', about: 'What may be spent in a day; a member that is null or absent has no limit.' },
)

const Budget = Type.Object(
  {
    limits: Type.Object(
      { runs: nullable(Type.Integer()), tokens: nullable(Type.Integer()), money: nullable(Type.Number()) },
      { description: 'Null: no limit.' },
    ),
    used: Type.Object({ runs: Type.Integer(), tokens: Type.Integer(), money: Type.Number() }),
    day: Type.String({ description: 'The day of `used`, in UTC.' }),
    currency: Type.String({ description: 'Of `money`: that of the prices of models.' }),
  },
  { title: 'Budget', about: 'What may be spent in a day, and what was spent today.' },
)

const scopes = [
  {
    path: '/projects/:project_id/budget',
    scope: 'project',
    name: 'projects.budget',
    tag: 'projects',
    params: Type.Object({ project_id: PathId }),
    of: 'a project, public callers included',
  },
  {
    path: '/projects/:project_id/members/:member_id/budget',
    scope: 'member',
    name: 'projects.members.budget',
    tag: 'projects',
    params: Type.Object({ project_id: PathId, member_id: PathId }),
    of: 'one who uses a project, in its runs',
  },
  {
    path: '/assistants/:aid/budget',
    scope: 'public',
    name: 'assistants.budget',
    tag: 'assistants',
    params: Type.Object({ aid: PathId }),
    of: 'the public callers of an assistant',
  },
] as const

/** Daily budgets of projects, of those who use them, and of public tokens. */
export const budgetRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'budgets' | 'projects' | 'assistants' | 'models'>
> = async (app, { budgets, projects, assistants, models }) => {
  for (const { path, scope, name, tag, params, of } of scopes) {
    const config = { auth: scope === 'public' ? 'project' : 'user' } as const
    const response = { 200: Budget, ...refusals(401, 403, 404) }
    /** What the budget is for, and whose account holds that. */
    const subjectOf = async (request: FastifyRequest, given: Given): Promise<BudgetSubject> => {
      const { aid = '', project_id: projectId = '', member_id: memberId } = given
      if (scope === 'public') {
        const { user_id: userId } = await assistants.readOwn(ownerOf(request), aid)
        return { scope, id: aid, userId }
      }
      const { role = 'holder' } = request.routeOptions.config
      const project = await projects.read(sessionOf(request).user, projectId, role)
      const id = memberId === undefined ? projectId : `${projectId}/${await projects.userOfMember(project, memberId)}`
      return { scope, id, userId: project.user_id }
    }

    app.get(
      path,
      {
        config,
        schema: {
          operationId: `${name}.read`,
          summary: `Read what may be spent in a day by ${of}, and what was spent today`,
          tags: [tag],
          params,
          response,
        },
      },
      async (request) => {
        return show(await budgets.read(await subjectOf(request, request.params)), models.current().prices.currency)
      },
    )

    app.put(
      path,
      {
        config: { ...config, audit: 'successes' },
        schema: {
          operationId: `${name}.put`,
          summary: `Set what may be spent in a day by ${of}; a member that is null or absent has no limit`,
          tags: [tag],
          params,
          body: BudgetRequest,
          response,
        },
      },
      async (request) => {
        const subject = await subjectOf(request, request.params)
        return show(await budgets.set(subject, limitsOf(request.body)), models.current().prices.currency)
      },
    )
  }
}

type Given = Partial<Record<'project_id' | 'aid' | 'member_id', string>>

function limitsOf({ runs, tokens, money: spent }: Static<typeof BudgetRequest>): BudgetLimits {
  return {
    ...(typeof runs === 'number' ? { runs } : {}),
    ...(typeof tokens === 'number' ? { tokens } : {}),
    ...(typeof spent === 'number' ? { money: spent } : {}),
  }
}

function show({ limits, used, day }: BudgetView, currency: string): Static<typeof Budget> {
  const { runs = null, tokens = null, money: most = null } = limits
  return { limits: { runs, tokens, money: most }, used, day, currency }
}
