export const sourceTypes = ['page', 'site', 'sitemap', 'feed'] as const
export type SourceType = (typeof sourceTypes)[number]

export const sourceStatuses = ['queued', 'crawling', 'ready', 'failed'] as const
export type SourceStatus = (typeof sourceStatuses)[number]

/** When a source is crawled again: exactly one of `cron` and `interval_seconds` is set. */
export interface SourceRefresh {
  cron?: string
  /** IANA name of the time zone of `cron`. */
  timezone?: string
  interval_seconds?: number
}

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

/** A part of the web that an assistant knows. Its pages are `SourcePageRecord`s, and their texts files. */
export interface SourceRecord {
  _id: string
  user_id: string
  assistant_id: string
  type: SourceType
  /** The canonical address at which a crawl begins. */
  url: string
  /** Where that address leads, if to another host or folder: the site is there. */
  moved_to?: string
  max_depth: number
  max_pages: number
  include: string[]
  exclude: string[]
  refresh?: SourceRefresh
  status: SourceStatus
  /** Why the last crawl failed, as shown to its owner. */
  error?: string
  /** The number of the crawl, from 1; 0 before the first. */
  round: number
  /** The crawl that may write, as long as it does. */
  crawl_id?: string
  /** When that crawl last went on. */
  alive_at?: Date
  /** Bytes that this crawl has fetched. */
  bytes: number
  /** Links and pages that this crawl has left out without a record of their own, because there were too many. */
  ignored: number
  crawled_at?: Date
  /** Incremented with every change that Temporal has to learn. */
  revision: number
  /** When a worker compares the schedule at Temporal with this record, and starts a crawl that waits. Also a lease. */
  check_at: Date
  deleting?: boolean
  created_at: Date
  /** When it came with an archive; then `created_at` is that of the archive. */
  imported_at?: Date
  updated_at: Date
}

/** `processing`: its text is being embedded. `left_out`: `reason` says why. */
export const sourcePageStatuses = ['waiting', 'processing', 'ready', 'left_out'] as const
export type SourcePageStatus = (typeof sourcePageStatuses)[number]

/** An address that a crawl has met. */
export interface SourcePageRecord {
  /** `{source_id}:{hash of the address}` */
  _id: string
  source_id: string
  user_id: string
  assistant_id: string
  url: string
  /** `list`: a sitemap or a feed, which names pages. */
  kind: 'page' | 'list'
  /** Links from where the crawl begins. */
  depth: number
  /** Pages of a depth are visited in this order. */
  order: number
  /** The last crawl that has met it. */
  round: number
  status: SourcePageStatus
  /** Why it is left out; beside a text, why that was not renewed. */
  reason?: string
  /** The text that is searched. A new one takes its place by a change of this member. */
  file_id?: string
  /** The text that is being embedded. */
  next_file_id?: string
  title?: string
  etag?: string
  last_modified?: string
  /** Of the newest text, to know what did not change, and pages that say the same. */
  sha256?: string
  /** The page that may have the same text: this one is visited again when that one was. */
  same_as?: string
  /** Another page waits for the end of this one's visit. */
  is_awaited?: boolean
  /** The lists that have named it. */
  listed_by?: string[]
  /** Of an article: its feed names it no more, and it was visited since. */
  unlisted?: boolean
  /** The hash of the address without its query, if it has one. */
  query_of?: string
  /** Failures of this crawl that may pass. */
  tries: number
  /** How often a visit has begun. */
  taken: number
  fetched_at?: Date
}

/** A crawl in which nothing has moved for so long is given up when another one begins. */
export const deadCrawlMs = 30 * 60_000
