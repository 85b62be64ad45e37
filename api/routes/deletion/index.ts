import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { callerOf, claimsOf, ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { accountBodyBytes } from '../../plugins/request-bodies.ts'
import { PathId, refusals } from '../schemas.ts'
import {
  DeleteUserRequest,
  DeletionResponse,
  ProjectDeleteResponse,
  Receipt,
  toDeletion,
  toReceipt,
} from './schemas.ts'

const answers = { 200: DeletionResponse, 202: DeletionResponse }

/**
 * All deletions that remove contents too, and the receipts. 202: the deletion continues, and the receipt tells when
 * it has ended.
 */
export const deletionRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'deletions'>> = async (app, deps) => {
  await app.register(recordRoutes, deps)
  await app.register(accountRoutes, deps)
}

/** What belongs to an account: threads, assistants, projects. */
const recordRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'deletions'>> = async (app, { deletions }) => {
  app.delete(
    '/threads/:tid',
    {
      config: { auth: 'project', audit: 'successes' },
      schema: {
        operationId: 'threads.delete',
        summary: 'Delete a thread with its history; it no longer counts against the quota',
        tags: ['threads'],
        params: Type.Object({ tid: PathId }),
        response: { ...answers, ...refusals(401, 403, 404, 500) },
      },
    },
    async (request, reply) => {
      const result = await deletions.deleteThread(callerOf(request), request.params.tid)
      return reply.code(result.status === 'complete' ? 200 : 202).send(toDeletion(result, 'thread'))
    },
  )

  app.delete(
    '/assistants/:aid',
    {
      config: { auth: 'project', audit: 'successes' },
      schema: {
        operationId: 'assistants.delete',
        summary: 'Delete an assistant with its files and its public threads',
        tags: ['assistants'],
        params: Type.Object({ aid: PathId }),
        response: { ...answers, ...refusals(401, 403, 404, 500) },
      },
    },
    async (request, reply) => {
      const result = await deletions.deleteAssistant(ownerOf(request), request.params.aid)
      return reply.code(result.status === 'complete' ? 200 : 202).send(toDeletion(result, 'assistant'))
    },
  )

  app.delete(
    '/projects/:project_id',
    {
      config: { auth: 'user', audit: 'successes' },
      schema: {
        operationId: 'projects.delete',
        summary: 'Delete a project with its assistants and threads',
        tags: ['projects'],
        params: Type.Object({ project_id: PathId }),
        querystring: Type.Object({ confirm: Type.Boolean({ default: false }) }),
        response: { 200: ProjectDeleteResponse, 202: ProjectDeleteResponse, ...refusals(401, 403, 404, 500) },
      },
    },
    async (request, reply) => {
      const { params, query } = request
      const { result, projectId, ...counts } = await deletions.deleteProject(
        sessionOf(request).user,
        params.project_id,
        query.confirm,
      )
      const receipt = result
        ? toDeletion(result, 'project')
        : {
            deleted: false,
            message: 'The project holds assistants or threads: repeat with confirm=true to delete them too.',
          }
      return reply
        .code(result?.status === 'pending' ? 202 : 200)
        .send({ project_id: projectId, requires_confirmation: result === undefined, ...counts, ...receipt })
    },
  )
}

const accountRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'deletions'>> = async (app, { deletions }) => {
  app.delete(
    '/auth/delete-user',
    {
      // A repeated request joins the deletion that is under way.
      config: { auth: 'user', mayBeDeleting: true },
      bodyLimit: accountBodyBytes,
      schema: {
        operationId: 'auth.deleteUser',
        summary: 'Delete your account with everything in it',
        tags: ['users'],
        body: DeleteUserRequest,
        response: { ...answers, ...refusals(400, 401, 403, 409, 500) },
      },
    },
    async (request, reply) => {
      const { email_confirmation: confirmation, shared_projects: choice } = request.body
      const result = await deletions.deleteAccount(sessionOf(request).user, confirmation, choice)
      return reply.code(result.status === 'complete' ? 200 : 202).send(toDeletion(result, 'account'))
    },
  )

  app.get(
    '/receipts/:receipt_id',
    {
      config: { auth: 'token' },
      schema: {
        operationId: 'receipts.read',
        summary: 'The receipt of a deletion, for the owner of what was deleted',
        tags: ['receipts'],
        params: Type.Object({ receipt_id: PathId }),
        response: { 200: Receipt, ...refusals(401, 404) },
      },
    },
    async (request) => toReceipt(await deletions.receiptOf(claimsOf(request).user_id, request.params.receipt_id)),
  )
}
