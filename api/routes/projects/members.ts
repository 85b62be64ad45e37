import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import type { Member as StoredMember } from '../../../services/projects/members.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'
import { Role, namesOf } from './schemas.ts'

const config = { auth: 'user' } as const
const tags = ['projects']
const ofProject = Type.Object({ project_id: PathId })
const ofMember = Type.Object({ project_id: PathId, member_id: PathId })

const Member = Type.Object(
  {
    member_id: Type.String(),
    user_id: Type.Optional(Type.String({ description: 'Absent until an invitation is accepted.' })),
    email: Type.String({
      description:
        'Until an invitation is accepted, the address to which it was sent, and empty if the account was named. Empty if the account has none.',
    }),
    first_name: Type.Optional(Type.String()),
    last_name: Type.Optional(Type.String()),
    role: Role,
    status: Type.Enum(['active', 'invited'], { title: 'MemberStatus' }),
    created_at: Timestamp,
  },
  { title: 'ProjectMember' },
)

const AddMemberRequest = Type.Object(
  {
    email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    role: Role,
  },
  { title: 'AddMemberRequest', description: 'Exactly one of `email` and `user_id`.' },
)

type Deps = Pick<Services, 'members' | 'tokens'>

/** Who uses a project, and the invitations to it. */
export const memberRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  await app.register(changeRoutes, deps)
  const { members, tokens } = deps

  app.get(
    '/projects/:project_id/members',
    {
      config,
      schema: {
        operationId: 'projects.members.list',
        summary: 'Who uses the project, and who is invited to; first the owner whose account holds it',
        tags,
        params: ofProject,
        response: {
          200: Type.Object({ members: Type.Array(Member) }, { title: 'ProjectMembers' }),
          ...refusals(401, 403, 404),
        },
      },
    },
    async (request) => ({
      members: (await members.list(sessionOf(request).user._id, request.params.project_id)).map(show),
    }),
  )

  app.post(
    '/invitations/:invitation_token/accept',
    {
      config: { ...config, limits: ['invitations_user'], audit: 'and refusals' },
      schema: {
        operationId: 'invitations.accept',
        summary: 'Accept an invitation that was sent to your address',
        tags,
        params: Type.Object({ invitation_token: PathId }),
        response: {
          200: Type.Object({ project_id: Type.String(), jwt_token: Type.String() }, { title: 'AcceptedInvitation' }),
          ...refusals(401, 403, 404, 409),
        },
      },
    },
    async (request) => {
      const { user, loginId } = sessionOf(request)
      const { _id: projectId } = await members.accept(user, request.params.invitation_token)
      const claims = { user_id: user._id, project_id: projectId, ...(loginId !== undefined && { login_id: loginId }) }
      return { project_id: projectId, jwt_token: await tokens.sign(claims) }
    },
  )
}

const changeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { members }) => {
  app.post(
    '/projects/:project_id/members',
    {
      config: { ...config, limits: ['invitations_user', 'mails_address'], audit: 'successes' },
      schema: {
        operationId: 'projects.members.add',
        summary: 'Invite somebody by mail; the same request again sends another link, and the one before is void',
        tags,
        params: ofProject,
        body: AddMemberRequest,
        response: { 200: Member, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => show(await members.add(sessionOf(request).user._id, request.params.project_id, request.body)),
  )

  app.patch(
    '/projects/:project_id/members/:member_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.members.update',
        summary: 'Change what somebody may do in the project',
        tags,
        params: ofMember,
        body: Type.Object({ role: Role }, { title: 'MemberUpdateRequest' }),
        response: { 200: Member, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { project_id: projectId, member_id: memberId } = request.params
      return show(await members.setRole(sessionOf(request).user._id, projectId, memberId, request.body.role))
    },
  )

  app.delete(
    '/projects/:project_id/members/:member_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.members.delete',
        summary: 'Remove a member, revoke an invitation, or leave the project yourself',
        tags,
        params: ofMember,
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { project_id: projectId, member_id: memberId } = request.params
      await members.remove(sessionOf(request).user._id, projectId, memberId)
      return { deleted: true }
    },
  )
}

function show(member: StoredMember): Static<typeof Member> {
  const { id, userId, email, firstName, lastName, role, isActive, createdAt } = member
  return {
    member_id: id,
    ...(userId === undefined ? {} : { user_id: userId }),
    email,
    ...namesOf({
      ...(firstName === undefined ? {} : { first_name: firstName }),
      ...(lastName === undefined ? {} : { last_name: lastName }),
    }),
    role,
    status: isActive ? 'active' : 'invited',
    created_at: createdAt.toISOString(),
  }
}
