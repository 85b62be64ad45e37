import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { privateThreadsChoices } from '../../../domain/records/project.ts'
import type { Invitation as StoredInvitation, Member as StoredMember } from '../../../services/projects/members.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { PathId, Timestamp, refusals } from '../schemas.ts'
import { ProjectOwner, Role, namesOf, toOwner } from './schemas.ts'

const config = { auth: 'user' } as const
const tags = ['projects']
const ofProject = Type.Object({ project_id: PathId })
const ofInvitation = Type.Object({ invitation_token: PathId })
const ofMember = Type.Object({ project_id: PathId, member_id: PathId })

const Member = Type.Object(
  {
    member_id: Type.String(),
    user_id: Type.Optional(Type.String({ description: 'Absent until an invitation is accepted, and of a group.' })),
    group: Type.Optional(
      Type.Object(
        { group_id: Type.String(), name: Type.String() },
        {
          title: 'MemberGroup',
          about: 'All who are in this group have the role.',
          description: 'All who are in this group have the role.',
        },
      ),
    ),
    email: Type.String({
      description:
        'Until an invitation is accepted, the address to which it was sent, and empty if the account was named. Empty of a group, and if the account has none.',
    }),
    first_name: Type.Optional(Type.String()),
    last_name: Type.Optional(Type.String()),
    role: Role,
    status: Type.Enum(['active', 'invited'], {
      title: 'MemberStatus',
      about: 'Whether a member uses the project, or is invited to.',
    }),
    created_at: Timestamp,
    expires_at: Type.Optional({ ...Timestamp, description: 'Of an invitation: when its link ends.' }),
  },
  { title: 'ProjectMember', about: 'Somebody who uses a project, or is invited to.' },
)

const Invitation = Type.Object(
  {
    project_id: Type.String(),
    name: Type.String({ description: 'Of the project.' }),
    owner: ProjectOwner,
    role: Role,
    status: Type.Enum(['open', 'member'], {
      title: 'InvitationStatus',
      about: 'Whether an invitation is open, or its reader uses the project already.',
      description: 'With `member` you use the project already, and `role` is your own.',
    }),
    expires_at: Type.Optional(Timestamp),
  },
  { title: 'Invitation', about: 'What an invitation offers, before it is accepted.' },
)

const AddMemberRequest = Type.Object(
  {
    email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
    user_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    group: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: 'The id of a group; see `/groups`.' }),
    ),
    role: Role,
  },
  {
    title: 'AddMemberRequest',
    about: 'Whom to invite to a project, and for which role.',
    description: 'Exactly one of `email`, `user_id` and `group`.',
  },
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
          200: Type.Object({ members: Type.Array(Member) }, { title: 'ProjectMembers', about: 'Who uses a project.' }),
          ...refusals(401, 403, 404),
        },
      },
    },
    async (request) => ({
      members: (await members.list(sessionOf(request).user, request.params.project_id)).map(show),
    }),
  )

  app.get(
    '/invitations/:invitation_token',
    {
      config,
      schema: {
        operationId: 'invitations.read',
        summary: 'What you are invited to; only for who has the invited address, confirmed',
        tags,
        params: ofInvitation,
        response: { 200: Invitation, ...refusals(401, 403, 404) },
      },
    },
    async (request) => toInvitation(await members.invitation(sessionOf(request).user, request.params.invitation_token)),
  )

  app.post(
    '/invitations/:invitation_token/accept',
    {
      config: { ...config, limits: ['invitations_user'], audit: 'and refusals' },
      schema: {
        operationId: 'invitations.accept',
        summary: 'Accept an invitation that was sent to your address',
        tags,
        params: ofInvitation,
        response: {
          200: Type.Object(
            { project_id: Type.String(), jwt_token: Type.String() },
            {
              title: 'AcceptedInvitation',
              about: 'The project to which an invitation has led, and a service token that is pinned to it.',
            },
          ),
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
        summary: 'Invite somebody by mail, or give a role to a group; an invitation that is repeated has another link',
        tags,
        params: ofProject,
        body: AddMemberRequest,
        response: { 200: Member, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => show(await members.add(sessionOf(request).user, request.params.project_id, request.body)),
  )

  app.patch(
    '/projects/:project_id/members/:member_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.members.update',
        summary: 'Change what somebody, or a group, may do in the project',
        tags,
        params: ofMember,
        body: Type.Object({ role: Role }, { title: 'MemberUpdateRequest', about: 'Another role for a member.' }),
        response: { 200: Member, ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { project_id: projectId, member_id: memberId } = request.params
      return show(await members.setRole(sessionOf(request).user, projectId, memberId, request.body.role))
    },
  )

  app.delete(
    '/projects/:project_id/members/:member_id',
    {
      config: { ...config, audit: 'successes' },
      schema: {
        operationId: 'projects.members.delete',
        summary: 'Remove a member or a group, revoke an invitation, or leave the project yourself',
        tags,
        params: ofMember,
        querystring: Type.Object({
          private_threads: Type.Optional(
            Type.Enum([...privateThreadsChoices], {
              title: 'PrivateThreads',
              about: 'What becomes of the private threads of a member who leaves.',
              description:
                'What becomes of his private threads in the project: they move to a project of his own (`keep`, the default), or become yours, and those of the owner of the project if you leave yourself (`hand_over`).',
            }),
          ),
        }),
        response: { 200: Type.Object({ deleted: Type.Boolean() }), ...refusals(401, 403, 404, 409) },
      },
    },
    async (request) => {
      const { project_id: projectId, member_id: memberId } = request.params
      const { private_threads: choice } = request.query
      await members.remove(sessionOf(request).user, projectId, memberId, choice)
      return { deleted: true }
    },
  )
}

function toInvitation({ project, holder, role, isMember, expiresAt }: StoredInvitation): Static<typeof Invitation> {
  return {
    project_id: project._id,
    name: project.name,
    owner: toOwner(holder),
    role,
    status: isMember ? 'member' : 'open',
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
  }
}

function show(member: StoredMember): Static<typeof Member> {
  const { id, userId, group, email, firstName, lastName, role, isActive, createdAt, expiresAt } = member
  return {
    member_id: id,
    ...(userId === undefined ? {} : { user_id: userId }),
    ...(group === undefined ? {} : { group: { group_id: group.id, name: group.name } }),
    email,
    ...namesOf({
      ...(firstName === undefined ? {} : { first_name: firstName }),
      ...(lastName === undefined ? {} : { last_name: lastName }),
    }),
    role,
    status: isActive ? 'active' : 'invited',
    created_at: createdAt.toISOString(),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
  }
}
