import type { ClientSession } from 'mongoose'
import type { CrawlStepInput } from '../../domain/contracts/crawl.ts'
import { cutText } from '../../domain/cut-text.ts'
import {
  type SourcePageRecord,
  type SourcePageStatus,
  type SourceRecord,
  deadCrawlMs,
} from '../../domain/records/source.ts'
import type { Collections } from '../collections.ts'
import { isNew } from '../duplicate-key.ts'
import { type Erasable, eraseAll } from '../owned-data/erase-all.ts'
import { type Page, type PageRange, readPage } from '../page.ts'
import type { RunInTransaction } from '../transactions.ts'

/** Selects sources that are not being deleted. */
const present = { deleting: { $ne: true } } as const
/** Stops a crawl, too. */
const markDeleting = { $set: { deleting: true }, $unset: { crawl_id: 1 } } as const
/** About the bytes of a source or a page. */
const recordBytes = () => 4096

interface Owner {
  _id: string
  user_id: string
}

/** All statements on `sources`. A source belongs to an assistant. */
export const sourceStore = ({ sources }: Pick<Collections, 'sources'>) => ({
  findOwned: async (assistant: Owner, id: string) =>
    sources.findOne({ _id: id, assistant_id: assistant._id, ...present }).lean<SourceRecord>(),

  /** Also one that is being deleted. */
  hasOwned: async (userId: string, id: string) => (await sources.exists({ _id: id, user_id: userId })) !== null,

  /** Newest first. */
  listOwned: (assistant: Owner, range: PageRange): Promise<Page<SourceRecord>> =>
    readPage(
      sources
        .find({ assistant_id: assistant._id, ...present })
        .sort({ _id: -1 })
        .lean<SourceRecord>(),
      range,
      recordBytes,
    ),

  countOwned: async (userId: string, session: ClientSession) =>
    sources.countDocuments({ user_id: userId, ...present }, { session }),

  add: async (source: SourceRecord, session: ClientSession) => sources.create([source], { session }),

  /** Takes a creation back, if nothing has changed it. */
  removeUnchanged: async ({ _id, revision }: SourceRecord) => sources.deleteOne({ _id, revision }),

  /** Has a source crawled, unless it is or waits. */
  queue: async ({ _id }: SourceRecord) =>
    sources.updateOne(
      { _id, status: { $in: ['ready', 'failed'] }, crawl_id: { $exists: false }, ...present },
      { $set: { status: 'queued', check_at: new Date() } },
    ),

  /** Null if there is none. */
  markDeletingOwned: async (assistant: Owner, id: string) =>
    sources
      .findOneAndUpdate({ _id: id, assistant_id: assistant._id }, markDeleting, { returnDocument: 'after' })
      .lean<SourceRecord>(),

  /** For the workflow of its deletion. */
  markDeletingOfAny: async (id: string) =>
    sources.findOneAndUpdate({ _id: id }, markDeleting, { returnDocument: 'after' }).lean<SourceRecord>(),

  removeDeletingOfAny: async (id: string) => sources.deleteOne({ _id: id, deleting: true }),

  countOfAny: async (id: string) => sources.countDocuments({ _id: id }),

  /** For workers, which Temporal tells of a source; also one that is being deleted. */
  findOfAny: async (id: string) => sources.findById(id).lean<SourceRecord>(),

  isPresentOfAny: async (id: string) => (await sources.exists({ _id: id, ...present })) !== null,

  /** Takes a source for a crawl, unless another one is under way. Null if that may not be. */
  beginCrawl: async ({ sourceId, crawlId }: CrawlStepInput): Promise<SourceRecord | null> => {
    const begun = await sources.findOne({ _id: sourceId, crawl_id: crawlId, ...present }).lean<SourceRecord>()
    if (begun !== null) return begun
    const now = new Date()
    const isFree = {
      $or: [{ crawl_id: { $exists: false } }, { alive_at: { $lt: new Date(now.getTime() - deadCrawlMs) } }],
    }
    return sources
      .findOneAndUpdate(
        { _id: sourceId, ...present, ...isFree },
        {
          $set: { crawl_id: crawlId, alive_at: now, status: 'crawling', bytes: 0, ignored: 0, updated_at: now },
          $unset: { error: 1 },
          $inc: { round: 1 },
        },
        { returnDocument: 'after' },
      )
      .lean<SourceRecord>()
  },

  /** The source, if this crawl may still write; also says that the crawl is alive, and what it has fetched. */
  continueCrawl: async ({ sourceId, crawlId }: CrawlStepInput, bytes = 0) =>
    sources
      .findOneAndUpdate(
        { _id: sourceId, crawl_id: crawlId, ...present },
        { $set: { alive_at: new Date() }, $inc: { bytes } },
        { returnDocument: 'after' },
      )
      .lean<SourceRecord>(),

  /** `error`: why it failed. False if the crawl may not write any more. */
  async endCrawl({ sourceId, crawlId }: CrawlStepInput, error: string | undefined): Promise<boolean> {
    const now = new Date()
    const { matchedCount } = await sources.updateOne(
      { _id: sourceId, crawl_id: crawlId, ...present },
      {
        $set: {
          status: error === undefined ? 'ready' : 'failed',
          ...(error === undefined ? {} : { error }),
          crawled_at: now,
          updated_at: now,
        },
        $unset: { crawl_id: 1, ...(error === undefined ? { error: 1 } : {}) },
      },
    )
    return matchedCount > 0
  },

  /** Counts addresses without a record. */
  countIgnored: async ({ _id, round }: SourceRecord, ignored: number) =>
    sources.updateOne({ _id, round }, { $inc: { ignored } }),

  /** Notes where its address leads. */
  async noteMoved({ _id, round }: SourceRecord, movedTo: string | undefined): Promise<void> {
    const change = movedTo === undefined ? { $unset: { moved_to: 1 } } : { $set: { moved_to: movedTo } }
    await sources.updateOne({ _id, round }, change)
  },

  /** Notes that Temporal has this revision. */
  noteCompared: async ({ _id, revision }: SourceRecord, checkAt: Date) =>
    sources.updateOne({ _id, revision, ...present }, { $set: { check_at: checkAt } }),

  /** For the sweep: takes the lease of one that is due, and returns its id. */
  async leaseDueOfAny(now: number, leaseMs: number): Promise<string | null> {
    const due = await sources
      .findOneAndUpdate(
        { check_at: { $lt: new Date(now) }, ...present },
        { $set: { check_at: new Date(now + leaseMs) } },
        { sort: { check_at: 1 }, projection: { _id: 1 } },
      )
      .lean()
    return due?._id ?? null
  },
})

type PageKey = Pick<SourcePageRecord, '_id' | 'round'>
type Round = Pick<SourceRecord, '_id' | 'round'>

/** A page that was met by an earlier crawl, and is visited by this one. */
const visitedAgain = (round: number) => ({
  $set: { round, status: 'waiting' as const, tries: 0, taken: 0 },
  $unset: { reason: 1, same_as: 1, is_awaited: 1 },
})

const ofRound = ({ _id, round }: Round) => ({ source_id: _id, round })
const ofEarlier = ({ _id, round }: Round) => ({ source_id: _id, round: { $lt: round } })
const inRound = ({ _id, round }: PageKey) => ({ _id, round })
const hasText = { file_id: { $exists: true } } as const
const isVisitable = { status: 'waiting', same_as: { $exists: false } } as const
/** What is known of a text. */
const textFacts = { sha256: 1, etag: 1, last_modified: 1 } as const
const inOrder = { depth: 1, order: 1, _id: 1 } as const

/** All statements on `source_pages`. Pages belong to their source, which was found as its owner's, or by a worker. */
export const sourcePageStore = ({ sourcePages }: Pick<Collections, 'sourcePages'>) => ({
  /** How many pages have each status, and how many can be found. */
  async countOwned({ _id, user_id }: SourceRecord) {
    const own = { source_id: _id, user_id }
    const groups = await sourcePages.aggregate<{ _id: SourcePageStatus; count: number }>([
      { $match: { ...own, kind: 'page' } },
      { $group: { _id: '$status', count: { $sum: 1 } } },
    ])
    const counts = { waiting: 0, processing: 0, ready: 0, left_out: 0 }
    for (const { _id: status, count } of groups) counts[status] = count
    return { counts, pages: await sourcePages.countDocuments({ ...own, ...hasText }) }
  },

  /** In the order in which they are visited. */
  listOwned: (
    userId: string,
    sourceId: string,
    status: SourcePageStatus | undefined,
    range: PageRange,
  ): Promise<Page<SourcePageRecord>> =>
    readPage(
      sourcePages
        .find({ source_id: sourceId, user_id: userId, ...(status === undefined ? {} : { status }) })
        .sort(inOrder)
        .lean<SourcePageRecord>(),
      range,
      recordBytes,
    ),

  /** By an id that names its source. */
  find: async (id: string) => sourcePages.findById(id).lean<SourcePageRecord>(),

  /** Which files pages name, by their ids. */
  filesOf: async (ids: string[]) =>
    sourcePages
      .find({ _id: { $in: ids } }, { file_id: 1, next_file_id: 1 })
      .lean<Pick<SourcePageRecord, '_id' | 'file_id' | 'next_file_id'>[]>(),

  count: async (sourceId: string) => sourcePages.countDocuments({ source_id: sourceId }),

  countWithText: async (sourceId: string) => sourcePages.countDocuments({ source_id: sourceId, ...hasText }),

  countOfRound: async (round: Round) => sourcePages.countDocuments(ofRound(round)),

  /** Pages of the round that have a text, or will. */
  countRetained: async (round: Round) =>
    sourcePages.countDocuments({ ...ofRound(round), kind: 'page', status: { $in: ['processing', 'ready'] } }),

  hasProcessing: async (round: Round) =>
    (await sourcePages.exists({ ...ofRound(round), status: 'processing' })) !== null,

  hasVisitable: async (round: Round) => (await sourcePages.exists({ ...ofRound(round), ...isVisitable })) !== null,

  /** Forgets texts that a crawl before has not brought to their end; its sweep of files did not come either. */
  forgetUnfinished: async (round: Round) =>
    sourcePages.updateMany(
      { ...ofEarlier(round), next_file_id: { $exists: true } },
      { $unset: { next_file_id: 1, ...textFacts } },
    ),

  /** Removes pages of earlier rounds without a text. */
  removeTextless: async (round: Round) => sourcePages.deleteMany({ ...ofEarlier(round), file_id: { $exists: false } }),

  /** Puts all pages of earlier rounds on the list of those to be visited. */
  visitAllAgain: async (round: Round) => sourcePages.updateMany(ofEarlier(round), visitedAgain(round.round)),

  /** The same for the page with which a crawl begins, which may be new. */
  async visitRoot(root: SourcePageRecord): Promise<void> {
    const { _id, round } = root
    const known = await sourcePages.updateOne({ _id, round: { $lt: round } }, visitedAgain(round))
    if (known.matchedCount === 0 && (await sourcePages.exists({ _id })) === null) await sourcePages.create([root])
  },

  /** The same for articles with a text that was found under another address. */
  visitSameText: async (round: Round, sha256: string) =>
    sourcePages.updateMany({ ...ofEarlier(round), sha256, kind: 'page' }, visitedAgain(round.round)),

  /** The same for articles that their feed names no more, each once. */
  async visitUnlisted(round: Round): Promise<void> {
    const { $set, $unset } = visitedAgain(round.round)
    await sourcePages.updateMany(
      { ...ofEarlier(round), kind: 'page', ...hasText, unlisted: { $ne: true } },
      { $set: { ...$set, unlisted: true }, $unset },
    )
  },

  /** The same for what only a list that could not be read may name. */
  visitListedBy: async ({ source_id: _id, round }: Pick<SourcePageRecord, 'source_id' | 'round'>, listId: string) =>
    sourcePages.updateMany(
      { ...ofEarlier({ _id, round }), $or: [{ listed_by: listId }, { listed_by: { $exists: false } }] },
      visitedAgain(round),
    ),

  /** The same for one that is met again. */
  meetAgain: async ({ _id, status, reason, order, depth, round }: SourcePageRecord) =>
    sourcePages.updateOne(
      { _id, round: { $lt: round } },
      {
        $set: { round, status, tries: 0, taken: 0, order, depth, ...(reason === undefined ? {} : { reason }) },
        $unset: {
          same_as: 1,
          is_awaited: 1,
          unlisted: 1,
          ...(reason === undefined ? { reason: 1 } : { file_id: 1, sha256: 1 }),
        },
      },
    ),

  roundsOf: async (ids: string[]) => sourcePages.find({ _id: { $in: ids } }, { round: 1 }).lean<PageKey[]>(),

  /** Notes that a list names these. */
  noteListed: async (sourceId: string, ids: string[], listId: string) =>
    sourcePages.updateMany(
      { _id: { $in: ids }, source_id: sourceId, listed_by: { $ne: listId } },
      { $addToSet: { listed_by: listId } },
    ),

  /** How many addresses there are of each of these paths, with queries. */
  async countQueries(sourceId: string, paths: string[]): Promise<Map<string, number>> {
    const counted = await sourcePages.aggregate<{ _id: string; count: number }>([
      { $match: { source_id: sourceId, query_of: { $in: paths } } },
      { $group: { _id: '$query_of', count: { $sum: 1 } } },
    ])
    return new Map(counted.map(({ _id, count }) => [_id, count]))
  },

  async addAll(pages: SourcePageRecord[]): Promise<void> {
    // An interrupted attempt has stored some.
    if (pages.length > 0) await isNew(sourcePages.insertMany(pages, { ordered: false, lean: true }))
  },

  /** Takes the next page that is to be visited. */
  takeNext: async (round: Round) =>
    sourcePages
      .findOneAndUpdate(
        { ...ofRound(round), ...isVisitable },
        { $inc: { taken: 1 } },
        { sort: inOrder, returnDocument: 'after' },
      )
      .lean<SourcePageRecord>(),

  /** Ends the round for what waits; what was known of these pages stays. */
  async leaveOutWaiting(round: Round, reason: string): Promise<void> {
    const waiting = { ...ofRound(round), status: 'waiting' as const }
    await sourcePages.updateMany(
      { ...waiting, ...hasText },
      { $set: { status: 'ready', reason }, $unset: { unlisted: 1 } },
    )
    await sourcePages.updateMany(waiting, { $set: { status: 'left_out', reason } })
  },

  leaveOut: async (page: PageKey, reason: string) =>
    sourcePages.updateOne(inRound(page), {
      $set: { status: 'left_out', reason: cutText(reason, 500), fetched_at: new Date() },
      $unset: { file_id: 1, next_file_id: 1, ...textFacts },
    }),

  /** Its text cannot be renewed now. */
  keepText: async (page: PageKey, reason: string) =>
    sourcePages.updateOne(inRound(page), {
      $set: { status: 'ready', reason: cutText(`Not renewed: ${reason}`, 500) },
      $unset: { next_file_id: 1, unlisted: 1 },
    }),

  /** Behind all others of its depth. */
  tryLater: async (page: PageKey, reason: string) =>
    sourcePages.updateOne(inRound(page), {
      $set: { reason: cutText(reason, 500) },
      $inc: { tries: 1, order: 1_000_000 },
    }),

  noteUnchanged: async (page: PageKey) =>
    sourcePages.updateOne(inRound(page), {
      $set: { status: 'ready', fetched_at: new Date() },
      $unset: { reason: 1 },
    }),

  noteFacts: async (page: PageKey, facts: Partial<Pick<SourcePageRecord, 'etag' | 'last_modified'>>) =>
    sourcePages.updateOne(inRound(page), { $set: facts }),

  /** Notes the file of its new text, with what is known of it. */
  noteText: async (
    page: PageKey,
    text: Pick<SourcePageRecord, 'next_file_id' | 'sha256'> &
      Partial<Pick<SourcePageRecord, 'title' | 'etag' | 'last_modified'>>,
  ) =>
    sourcePages.updateOne(inRound(page), {
      $set: { ...text, status: 'processing', fetched_at: new Date() },
      $unset: {
        reason: 1,
        ...(text.etag === undefined ? { etag: 1 } : {}),
        ...(text.last_modified === undefined ? { last_modified: 1 } : {}),
      },
    }),

  /** A page waits until another has been visited, which so knows of it. */
  async waitFor(page: PageKey, other: PageKey, reason: string): Promise<void> {
    await sourcePages.updateOne(inRound(other), { $set: { is_awaited: true } })
    await sourcePages.updateOne(inRound(page), { $set: { same_as: other._id, reason } })
  },

  /** The visit of a page has ended: those that waited for it are visited. */
  letGoOn: async ({ _id, source_id, round }: Pick<SourcePageRecord, '_id' | 'source_id' | 'round'>) =>
    sourcePages.updateMany({ source_id, round, same_as: _id }, { $unset: { same_as: 1, reason: 1 } }),

  /** One page waits no more for another. */
  stopWaiting: async (page: PageKey, otherId: string) =>
    sourcePages.updateOne({ ...inRound(page), same_as: otherId }, { $unset: { same_as: 1, reason: 1 } }),

  /** No page of the round waits any more for another. False if none waited. */
  async stopAllWaiting(round: Round): Promise<boolean> {
    const stuck = { ...ofRound(round), status: 'waiting' as const }
    return (await sourcePages.updateMany(stuck, { $unset: { same_as: 1, reason: 1 } })).matchedCount > 0
  },

  /** Others of the round with the same text. */
  listSameText: async ({ _id, round, source_id }: SourcePageRecord, sha256: string, most: number) =>
    sourcePages
      .find({ source_id, sha256, round, _id: { $ne: _id } })
      .limit(most)
      .lean<SourcePageRecord[]>(),

  /** Those whose text is being embedded, by id. */
  listProcessing: async (round: Round, after: string, most: number) =>
    sourcePages
      .find({ ...ofRound(round), status: 'processing', _id: { $gt: after } })
      .sort({ _id: 1 })
      .limit(most)
      .lean<SourcePageRecord[]>(),

  /** The text of a page was lost: it is visited again. */
  revisit: async ({ _id, next_file_id }: SourcePageRecord) =>
    sourcePages.updateOne(
      { _id, next_file_id },
      { $set: { status: 'waiting' }, $unset: { next_file_id: 1, ...textFacts }, $inc: { tries: 1 } },
    ),

  /** The search finds the new text in place of the old one. */
  takeText: async ({ _id, next_file_id }: SourcePageRecord, fileId: string) =>
    sourcePages.updateOne(
      { _id, next_file_id },
      { $set: { status: 'ready', file_id: fileId }, $unset: { next_file_id: 1 } },
    ),

  forgetFacts: async ({ _id, next_file_id }: SourcePageRecord) =>
    sourcePages.updateOne({ _id, next_file_id }, { $unset: textFacts }),

  listLists: async (sourceId: string) =>
    sourcePages
      .find({ source_id: sourceId, kind: 'list' }, { round: 1, status: 1, listed_by: 1 })
      .lean<Pick<SourcePageRecord, '_id' | 'round' | 'status' | 'listed_by'>[]>(),

  /** Removes pages of earlier rounds, but for lists of these and what they may name. */
  async removeUnnamed(round: Round, unread: string[]): Promise<void> {
    const named = unread.length === 0 ? {} : { listed_by: { $exists: true, $nin: unread }, _id: { $nin: unread } }
    await sourcePages.deleteMany({ ...ofEarlier(round), ...named })
  },

  removeAll: (sourceId: string, transaction: RunInTransaction): Promise<void> =>
    eraseAll(transaction, sourcePages as Erasable<{ source_id: string }>, { source_id: sourceId }),
})
