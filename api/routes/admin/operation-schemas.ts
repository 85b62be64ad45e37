import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import type { Administration } from '../../../composition/admin.ts'
import type { OpenIngestion } from '../../../services/admin/ingestions.ts'
import { Timestamp, nullable } from '../schemas.ts'

const count = Type.Integer()

export const Activity = Type.Object(
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

export const QueueStatuses = Type.Object(
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

export const OpenIngestions = Type.Object(
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

export function toQueue(
  status: Awaited<ReturnType<Administration['queues']>>[number],
): Static<typeof QueueStatuses>['queues'][number] {
  const { queue, kind, pollers, backlog, backlogAgeSeconds } = status
  return { queue, kind, pollers, backlog: backlog ?? null, backlog_age_seconds: backlogAgeSeconds ?? null }
}

export function toIngestion(ingestion: OpenIngestion): Static<typeof OpenIngestions>['ingestions'][number] {
  const { created_at, updated_at, by_status, ...rest } = ingestion
  return {
    ...rest,
    by_status: Object.fromEntries(Object.entries(by_status)),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  }
}
