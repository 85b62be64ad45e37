import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AnyKey } from '../../../domain/any-key.ts'
import type { AuditEntryRecord } from '../../../domain/records/audit-entry.ts'
import { sessionOf } from '../../plugins/authentication.ts'
import { AdminQuery, config as adminConfig } from '../admin/declare.ts'
import { PathId, Timestamp, nullable, refusals } from '../schemas.ts'

const AuditEntry = Type.Object(
  {
    entry_id: Type.String(),
    user_id: nullable(Type.String()),
    actor: Type.Enum(['user', 'admin', 'anonymous'], { title: 'AuditActor', about: 'Who performed the action.' }),
    action: Type.String({ description: 'The operation, such as `accounts.login`.' }),
    outcome: Type.Enum(['done', 'refused'], {
      title: 'AuditOutcome',
      about: 'Whether the action was done or refused.',
    }),
    subjects: Type.Array(Type.String(), { description: 'The ids in the path of the request.' }),
    client: nullable(
      Type.String({ description: 'Address of the client; of an administrator it is shown to administrators only.' }),
    ),
    user_agent: nullable(Type.String()),
    count: Type.Integer({ description: 'Identical actions within a short time are one entry.' }),
    created_at: Timestamp,
    last_at: Timestamp,
  },
  { title: 'AuditEntry', about: 'One action, or several identical ones within a short time.' },
)

const AuditPage = Type.Object(
  {
    entries: Type.Array(AuditEntry),
    has_more: Type.Boolean(),
    names: Type.Record(AnyKey, Type.String(), {
      description: 'By id: what the accounts, projects, assistants, threads and files of the entries are called.',
    }),
  },
  { title: 'AuditPage', about: 'A page of the audit log.' },
)

const pageQuery = {
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  before: Type.Optional(PathId),
  action: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9._]+(,[A-Za-z0-9._]+)*$',
      maxLength: 200,
      description: 'Only entries of this operation, or of these, separated by commas.',
    }),
  ),
}

/** The audit log, for the user whom it is about and for administrators. */
export const auditRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'audit'>> = async (app, { audit }) => {
  app.get(
    '/user/audit',
    {
      config: { auth: 'user' },
      schema: {
        operationId: 'users.audit',
        summary: 'What was done with your account, newest first',
        tags: ['users'],
        querystring: Type.Object(pageQuery),
        response: { 200: AuditPage, ...refusals(401) },
      },
    },
    async (request) => {
      const userId = sessionOf(request).user._id
      const page = await audit.list(filterOf({ ...request.query, user_id: userId }), request.query.limit)
      const names = await audit.namesOf(page.entries, userId)
      return { entries: page.entries.map((entry) => toEntry(withoutAdmin(entry))), has_more: page.hasMore, names }
    },
  )

  app.get(
    '/admin/audit',
    {
      config: adminConfig,
      schema: {
        operationId: 'admin.audit',
        summary: 'The audit log of one user or of all, newest first',
        tags: ['admin'],
        querystring: Type.Object({ ...AdminQuery, ...pageQuery, user_id: Type.Optional(PathId) }),
        response: { 200: AuditPage, ...refusals(401) },
      },
    },
    async ({ query }) => {
      const page = await audit.list(filterOf(query), query.limit)
      const names = await audit.namesOf(page.entries)
      return { entries: page.entries.map(toEntry), has_more: page.hasMore, names }
    },
  )
}

interface AuditQuery {
  user_id?: string
  before?: string
  action?: string
}

function filterOf({ user_id: userId, before, action }: AuditQuery) {
  return { userId, before, actions: action?.split(',') }
}

function withoutAdmin(entry: AuditEntryRecord): AuditEntryRecord {
  if (entry.actor !== 'admin') return entry
  const { client: _client, user_agent: _agent, ...rest } = entry
  return rest
}

function toEntry(entry: AuditEntryRecord): Static<typeof AuditEntry> {
  return {
    entry_id: entry._id,
    user_id: entry.user_id ?? null,
    actor: entry.actor,
    action: entry.action,
    outcome: entry.outcome,
    subjects: entry.subjects,
    client: entry.client ?? null,
    user_agent: entry.user_agent ?? null,
    count: entry.count,
    created_at: entry.created_at.toISOString(),
    last_at: entry.last_at.toISOString(),
  }
}
