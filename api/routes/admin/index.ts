import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type TSchema } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { Receipt, toReceipt } from '../deletion/schemas.ts'
import { ListPage } from '../paging.ts'
import { PathId, refusals } from '../schemas.ts'
import { AdminQuery, config, tags } from './declare.ts'
import { InactiveUsers, OrphanCleanupResponse, SystemStats, UserCleanupResponse, toAdminUser } from './schemas.ts'

const dryRun = Type.Boolean({ default: true, description: 'A dry run changes nothing.' })
const days = (fallback: number) => Type.Integer({ minimum: 0, maximum: 36_500, default: fallback })

const inactiveDays = 90
/** A day: addresses that are still not verified then will not be. */
const unverifiedDays = 1

const declare = <Q extends Record<string, TSchema>, R extends TSchema>(
  operationId: string,
  summary: string,
  query: Q,
  answer: R,
) => ({
  operationId,
  summary,
  tags,
  querystring: Type.Object({ ...AdminQuery, ...query }),
  response: { 200: answer, ...refusals(401, 503) },
})

/** `/admin`: statistics and clean-ups for operators. */
export const adminRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'admin' | 'deletions'>> = async (
  app,
  { admin, deletions },
) => {
  app.get(
    '/admin/system-stats',
    {
      config,
      schema: declare('admin.systemStats', 'Counts of users, projects, threads, runs and files', {}, SystemStats),
    },
    () => admin.stats(),
  )

  app.get(
    '/admin/inactive-users',
    {
      config,
      schema: declare(
        'admin.inactiveUsers',
        'Users who have not been active for a while',
        { min_days_old: days(inactiveDays), ...ListPage.properties },
        InactiveUsers,
      ),
    },
    async ({ query }) => {
      const { min_days_old: minDaysOld, limit, offset } = query
      const { users, total } = await admin.inactiveUsers(minDaysOld, { limit, offset })
      return { users: users.map(toAdminUser), total, min_days_old: minDaysOld, limit, offset }
    },
  )

  for (const { kind, operationId, summary, fallback } of [
    {
      kind: 'inactive-users',
      operationId: 'admin.cleanupInactiveUsers',
      summary: 'Delete users who have not been active for a while',
      fallback: inactiveDays,
    },
    {
      kind: 'unverified-users',
      operationId: 'admin.cleanupUnverifiedUsers',
      summary: 'Delete accounts that were never verified',
      fallback: unverifiedDays,
    },
  ] as const) {
    app.post(
      `/admin/cleanup-${kind}`,
      {
        config: { ...config, audit: 'successes' },
        schema: declare(operationId, summary, { min_days_old: days(fallback), dry_run: dryRun }, UserCleanupResponse),
      },
      async ({ query }) => {
        const { users, total, workflowId } = await admin.cleanUsers(kind, {
          minDaysOld: query.min_days_old,
          dryRun: query.dry_run,
        })
        const message = query.dry_run ? `${total} users would be deleted.` : `${total} users are being deleted.`
        return { dry_run: query.dry_run, users: users.map(toAdminUser), total, workflow_id: workflowId, message }
      },
    )
  }

  app.post(
    '/admin/cleanup-orphans',
    {
      config: { ...config, audit: 'successes' },
      schema: declare(
        'admin.cleanupOrphans',
        'Remove records whose owner is gone',
        { dry_run: dryRun },
        OrphanCleanupResponse,
      ),
    },
    async ({ query }) => {
      const { workflowId, result } = await admin.cleanOrphans(query.dry_run)
      const done = query.dry_run ? 'Found; nothing was changed.' : 'Removed.'
      return {
        dry_run: query.dry_run,
        workflow_id: workflowId,
        complete: result !== undefined,
        found: result?.found ?? null,
        orphans: result?.orphans ?? {},
        message: result === undefined ? 'Under way.' : done,
      }
    },
  )

  app.get(
    '/admin/receipts/:receipt_id',
    {
      config,
      schema: {
        ...declare('admin.readReceipt', 'The receipt of any deletion', {}, Receipt),
        params: Type.Object({ receipt_id: PathId }),
        response: { 200: Receipt, ...refusals(401, 404) },
      },
    },
    async ({ params }) => toReceipt(await deletions.receipt(params.receipt_id)),
  )
}
