import Type, { type Static } from 'typebox'
import { type RecordOf, StoredId, StoredTime, archiveLine, declareRecord } from './declared-record.ts'
import { scheduleLimits } from './schedule.ts'

export const sourceTypes = ['page', 'site', 'sitemap', 'feed'] as const
export type SourceType = (typeof sourceTypes)[number]

export const sourceStatuses = ['queued', 'crawling', 'ready', 'failed'] as const

/** What the members of a source may be, in requests and in archives. */
export const sourceLimits = {
  urlLength: 2048,
  max_depth: { minimum: 0, maximum: 20 },
  max_pages: { minimum: 1, maximum: 10_000 },
  globs: 10,
  globLength: 100,
  /** Sites are not asked more often than four times a day without being asked by hand. */
  interval_seconds: { minimum: 6 * 3600, maximum: 366 * 24 * 3600 },
} as const

/** When a source is crawled again: exactly one of `cron` and `interval_seconds` is set. */
const Refresh = Type.Object({
  cron: Type.Optional(Type.String({ maxLength: scheduleLimits.cronLength })),
  /** IANA name of the time zone of `cron`. */
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: scheduleLimits.timezoneLength })),
  interval_seconds: Type.Optional(Type.Integer(sourceLimits.interval_seconds)),
})
export type SourceRefresh = Static<typeof Refresh>

const globs = Type.Array(Type.String({ minLength: 1, maxLength: sourceLimits.globLength }), {
  maxItems: sourceLimits.globs,
})

/** A part of the web that an assistant knows. Its pages are `SourcePageRecord`s, and their texts files. */
const Source = Type.Object({
  _id: StoredId,
  user_id: StoredId,
  /** Who made it, if that is not the holder of the project. */
  created_by: Type.Optional(StoredId),
  assistant_id: StoredId,
  type: Type.Enum([...sourceTypes]),
  /** The canonical address at which a crawl begins. */
  url: Type.String({ minLength: 1, maxLength: sourceLimits.urlLength }),
  /** Where that address leads, if to another host or folder: the site is there. */
  moved_to: Type.Optional(Type.String()),
  max_depth: Type.Integer(sourceLimits.max_depth),
  max_pages: Type.Integer(sourceLimits.max_pages),
  include: globs,
  exclude: globs,
  refresh: Type.Optional(Refresh),
  status: Type.Enum([...sourceStatuses]),
  /** Why the last crawl failed, as shown to its owner. */
  error: Type.Optional(Type.String()),
  /** The number of the crawl, from 1; 0 before the first. */
  round: Type.Integer(),
  /** The crawl that may write, as long as it does. */
  crawl_id: Type.Optional(Type.String()),
  /** When that crawl last went on. */
  alive_at: Type.Optional(StoredTime),
  /** Bytes that this crawl has fetched. */
  bytes: Type.Integer(),
  /** Links and pages that this crawl has left out without a record of their own, because there were too many. */
  ignored: Type.Integer(),
  crawled_at: Type.Optional(StoredTime),
  /** Incremented with every change that Temporal has to learn. */
  revision: Type.Integer(),
  /** When a worker compares the schedule at Temporal with this record, and starts a crawl that waits. Also a lease. */
  check_at: StoredTime,
  deleting: Type.Optional(Type.Boolean()),
  created_at: StoredTime,
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at: Type.Optional(StoredTime),
  updated_at: StoredTime,
})

const line = archiveLine(Source, {
  id: 'source_id',
  members: ['assistant_id', 'type', 'url', 'max_depth', 'max_pages', 'include', 'exclude', 'refresh', 'created_at'],
})

export const sourceRecord = declareRecord({
  model: 'Source',
  collection: 'sources',
  schema: Source,
  // Not their project: an assistant can be moved to another one.
  owners: ['user_id', 'assistant_id'],
  orphanedBy: { assistant_id: 'assistants' },
  indexes: [[{ user_id: 1 }], [{ assistant_id: 1, _id: 1 }], [{ check_at: 1 }]],
  archive: line,
})
export type SourceRecord = RecordOf<typeof sourceRecord>

/** `processing`: its text is being embedded. `left_out`: `reason` says why. */
export const sourcePageStatuses = ['waiting', 'processing', 'ready', 'left_out'] as const
export type SourcePageStatus = (typeof sourcePageStatuses)[number]

/** An address that a crawl has met. */
const SourcePage = Type.Object({
  /** `{source_id}:{hash of the address}` */
  _id: Type.String({ minLength: 1 }),
  source_id: StoredId,
  user_id: StoredId,
  assistant_id: StoredId,
  url: Type.String({ minLength: 1 }),
  /** `list`: a sitemap or a feed, which names pages. */
  kind: Type.Enum(['page', 'list']),
  /** Links from where the crawl begins. */
  depth: Type.Integer(),
  /** Pages of a depth are visited in this order. */
  order: Type.Integer(),
  /** The last crawl that has met it. */
  round: Type.Integer(),
  status: Type.Enum([...sourcePageStatuses]),
  /** Why it is left out; beside a text, why that was not renewed. */
  reason: Type.Optional(Type.String()),
  /** The text that is searched. A new one takes its place by a change of this member. */
  file_id: Type.Optional(StoredId),
  /** The text that is being embedded. */
  next_file_id: Type.Optional(StoredId),
  title: Type.Optional(Type.String()),
  etag: Type.Optional(Type.String()),
  last_modified: Type.Optional(Type.String()),
  /** Of the newest text, to know what did not change, and pages that say the same. */
  sha256: Type.Optional(Type.String()),
  /** The page that may have the same text: this one is visited again when that one was. */
  same_as: Type.Optional(Type.String()),
  /** Another page waits for the end of this one's visit. */
  is_awaited: Type.Optional(Type.Boolean()),
  /** The lists that have named it. */
  listed_by: Type.Optional(Type.Array(Type.String())),
  /** Of an article: its feed names it no more, and it was visited since. */
  unlisted: Type.Optional(Type.Boolean()),
  /** The hash of the address without its query, if it has one. */
  query_of: Type.Optional(Type.String()),
  /** Failures of this crawl that may pass. */
  tries: Type.Integer(),
  /** How often a visit has begun. */
  taken: Type.Integer(),
  fetched_at: Type.Optional(StoredTime),
})

export const sourcePageRecord = declareRecord({
  model: 'SourcePage',
  collection: 'source_pages',
  schema: SourcePage,
  owners: sourceRecord.owners,
  orphanedBy: { source_id: 'sources' },
  indexes: [
    [{ source_id: 1, status: 1, depth: 1, order: 1, _id: 1 }],
    [{ source_id: 1, depth: 1, order: 1, _id: 1 }],
    [{ source_id: 1, sha256: 1 }, { partialFilterExpression: { sha256: { $exists: true } } }],
    [{ source_id: 1, query_of: 1 }, { partialFilterExpression: { query_of: { $exists: true } } }],
    [{ user_id: 1 }],
    [{ assistant_id: 1 }],
  ],
  archive: undefined,
})
export type SourcePageRecord = RecordOf<typeof sourcePageRecord>

/** A crawl in which nothing has moved for so long is given up when another one begins. */
export const deadCrawlMs = 30 * 60_000
