import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type Static } from 'typebox'
import type { Administration } from '../../../composition/admin.ts'
import type { Services } from '../../../composition/platform.ts'
import { AnyKey } from '../../../domain/any-key.ts'
import type { OpenIngestion } from '../../../services/admin/ingestions.ts'
import { Timestamp, nullable, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'

const count = Type.Integer()

const Activity = Type.Object(
  {
    days: Type.Array(
      Type.Object({
        date: Type.String({ description: 'A day in UTC.' }),
        new_users: count,
        runs: count,
        failed_runs: count,
        prompt_tokens: count,
        completion_tokens: count,
        total_tokens: count,
        first_token_ms: Type.Optional(
          Type.Integer({ description: 'Mean time from a run’s creation to the first token of its model.' }),
        ),
      }),
    ),
  },
  { title: 'Activity', about: 'What happened on each day.' },
)

const QueueStatuses = Type.Object(
  {
    queues: Type.Array(
      Type.Object({
        queue: Type.String(),
        kind: Type.Enum(['workflow', 'activity'], {
          title: 'TaskKind',
          about: 'Whether a task queue holds tasks of workflows or of activities.',
        }),
        pollers: count,
        backlog: nullable(
          Type.Integer({ description: 'Number of waiting tasks; null if Temporal does not report it.' }),
        ),
        backlog_age_seconds: nullable(count),
      }),
    ),
  },
  { title: 'QueueStatuses', about: 'The backlog and the workers of the task queues.' },
)

const OpenIngestions = Type.Object(
  {
    ingestions: Type.Array(
      Type.Object({
        ingestion_id: Type.String(),
        user_id: Type.String(),
        assistant_id: Type.String(),
        files: count,
        bytes: count,
        by_status: Type.Record(AnyKey, count),
        created_at: Timestamp,
        updated_at: Timestamp,
      }),
    ),
  },
  { title: 'OpenIngestions', about: 'Ingestions under way.' },
)

function toQueue(
  status: Awaited<ReturnType<Administration['queues']>>[number],
): Static<typeof QueueStatuses>['queues'][number] {
  const { queue, kind, pollers, backlog, backlogAgeSeconds } = status
  return { queue, kind, pollers, backlog: backlog ?? null, backlog_age_seconds: backlogAgeSeconds ?? null }
}

function toIngestion(ingestion: OpenIngestion): Static<typeof OpenIngestions>['ingestions'][number] {
  const { created_at, updated_at, by_status, ...rest } = ingestion
  return {
    ...rest,
    by_status: Object.fromEntries(Object.entries(by_status)),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}

/** What the operator's page shows about work under way. */
export const adminOperationRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'administration'>> = async (
  app,
  { administration },
) => {
  const querystring = Type.Object(AdminQuery)

  app.get(
    '/admin/activity',
    {
      config,
      schema: {
        operationId: 'admin.activity',
        summary: 'Users, runs, tokens and failures of each of the last days; figures are up to a minute old',
        tags,
        querystring: Type.Object({
          ...AdminQuery,
          days: Type.Integer({ minimum: 1, maximum: 90, default: 30 }),
        }),
        response: { 200: Activity, ...refusals(401, 503) },
      },
    },
    async ({ query }) => ({ days: await administration.activity(query.days) }),
  )

  app.get(
    '/admin/queues',
    {
      config,
      schema: {
        operationId: 'admin.queues',
        summary: 'The backlog and the number of workers of each task queue',
        tags,
        querystring,
        response: { 200: QueueStatuses, ...refusals(401, 503) },
      },
    },
    async () => ({ queues: (await administration.queues()).map(toQueue) }),
  )

  app.get(
    '/admin/ingestions',
    {
      config,
      schema: {
        operationId: 'admin.ingestions',
        summary: 'Ingestions under way; those without progress for the longest time come first',
        tags,
        querystring,
        response: { 200: OpenIngestions, ...refusals(401, 503) },
      },
    },
    async () => ({ ingestions: (await administration.ingestions()).map(toIngestion) }),
  )
}
