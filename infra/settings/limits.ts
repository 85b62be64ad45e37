import Type from 'typebox'
import { type RateTable, defaultRates, readRateTable } from '../../domain/rate-limits.ts'
import { integer, kind, onOff, proxies, readBy } from './kinds.ts'

const rateTable = kind<RateTable>(
  'a list of rate limits',
  (given, { problem }) => readRateTable(given, problem),
  Type.Unsafe<RateTable>({}),
)

/** docs/limits.md */
export const limitSettings = {
  ...readBy('API', {
    trustProxy: proxies('TRUST_PROXY', 'Trusted proxies: addresses, ranges, loopback, linklocal, uniquelocal.', {
      default: [],
    }),
    maxBodyMb: integer('MAX_BODY_MB', [1, 1024], 'Largest body with messages.', {
      default: 16,
    }),
    maxConnections: integer('MAX_CONNECTIONS', [1, 1_000_000], 'Connections to a process; an address: a fifth.', {
      default: 10_000,
    }),
    maxStreams: integer(
      'MAX_STREAMS',
      [1, 1_000_000],
      'Open answers of a process; a user: a tenth, an assistant: a fifth.',
      { default: 5000 },
    ),
    rateLimitsOn: onOff('RATE_LIMITS', 'Whether rates are limited.', {
      defaultText: 'on with NODE_ENV=production, else off',
    }),
    rateLimits: rateTable('RATE_LIMIT_TABLE', 'Other rates, such as `login_client=10/5m, runs_user=off`.', {
      default: defaultRates,
      defaultText: 'those in docs/limits.md',
    }),
    threadMaxDefault: integer('THREAD_MAX_DEFAULT', [0, 1_000_000_000], 'Threads of a new user.', {
      default: 500,
    }),
    scheduleMaxDefault: integer('SCHEDULE_MAX_DEFAULT', [0, 1_000_000], 'Schedules of a user.', {
      default: 20,
    }),
    sourceMaxDefault: integer(
      'SOURCE_MAX_DEFAULT',
      [0, 1_000_000],
      'Sources of the web of a user; a plan can allow more.',
      {
        default: 20,
      },
    ),
    storageMaxMb: integer('STORAGE_MAX_MB', [1, 1_000_000_000], 'Size of all files of one user.', {
      defaultText: 'no limit',
    }),
    importMaxMb: integer('IMPORT_MAX_MB', [1, 1_000_000], 'Size of an imported archive (docs/archive.md).', {
      default: 10_240,
    }),
  }),
}

/** docs/retention.md */
export const retentionSettings = {
  ...readBy('worker', {
    retainPublicThreadsDays: integer(
      'RETAIN_PUBLIC_THREADS_DAYS',
      [1, 36_500],
      'Public threads, after their last use.',
      { default: 90 },
    ),
    retainPendingAccountsDays: integer('RETAIN_PENDING_ACCOUNTS_DAYS', [1, 36_500], 'Unverified accounts.', {
      defaultText: 'kept',
    }),
    retainWaitingRunsDays: integer('RETAIN_WAITING_RUNS_DAYS', [1, 36_500], 'Runs that wait for a decision.', {
      defaultText: 'kept',
    }),
  }),
  runStreamHours: integer('RUN_STREAM_HOURS', [1, 720], 'Streams in Redis, after their last entry.', { default: 24 }),
  auditKeepDays: integer('AUDIT_KEEP_DAYS', [1, 3650], 'Audit entries.', {
    default: 365,
  }),
}
