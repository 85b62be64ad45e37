import Type, { type Static } from 'typebox'
import { scheduleLimits } from '../../../domain/records/schedule.ts'
import {
  type SourcePageRecord,
  sourceLimits,
  sourcePageStatuses,
  sourceStatuses,
  sourceTypes,
} from '../../../domain/records/source.ts'
import type { SourceView } from '../../../services/sources/read-sources.ts'
import { NewestPage } from '../paging.ts'
import { MadeBy, type Makers, PathId, Timestamp, nullable, toMaker } from '../schemas.ts'

export const SourcesParams = Type.Object({ aid: PathId })
export const SourceParams = Type.Object({ aid: PathId, source_id: PathId })

const SourceType = Type.Enum([...sourceTypes], {
  title: 'SourceType',
  about: 'What an address stands for.',
  description:
    '`page`: one page. `site`: the pages of its host at and below the address, found by links. `sitemap`, `feed`: the pages that it names.',
})
const Refresh = Type.Object(
  {
    cron: Type.Optional(
      Type.String({
        maxLength: scheduleLimits.cronLength,
        description: 'Five fields: minute, hour, day of the month, month, day of the week.',
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: scheduleLimits.timezoneLength,
        description: 'IANA name of the time zone of `cron`; default UTC.',
      }),
    ),
    interval_seconds: Type.Optional(Type.Integer(sourceLimits.interval_seconds)),
  },
  {
    title: 'SourceRefresh',
    about: 'When a source is crawled again.',
    description: 'When it is crawled again: exactly one of `cron` and `interval_seconds`.',
  },
)
const globs = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: sourceLimits.globLength }), {
    maxItems: sourceLimits.globs,
    description,
  })
const Include = globs(
  'Globs of which an address has to match one. `*` is anything but `/`, `**` anything. One that begins with `/` is compared with path and query, any other with the whole address.',
)
const Exclude = globs('Globs of addresses that are left out, in the same form.')

export const SourceCreateRequest = Type.Object(
  {
    type: SourceType,
    url: Type.String({ minLength: 1, maxLength: sourceLimits.urlLength, description: 'http or https.' }),
    max_depth: Type.Optional(
      Type.Integer({ ...sourceLimits.max_depth, description: 'Links from the address; default 5. Only for a site.' }),
    ),
    max_pages: Type.Optional(Type.Integer({ ...sourceLimits.max_pages, description: 'Default 500.' })),
    include: Type.Optional(Include),
    exclude: Type.Optional(Exclude),
    refresh: Type.Optional(Refresh),
  },
  { title: 'SourceCreateRequest', about: 'What the assistant is to know.' },
)

export const Source = Type.Object(
  {
    source_id: Type.String(),
    assistant_id: Type.String(),
    type: SourceType,
    url: Type.String(),
    max_depth: Type.Integer(),
    max_pages: Type.Integer(),
    include: Type.Array(Type.String()),
    exclude: Type.Array(Type.String()),
    refresh: nullable(Refresh),
    status: Type.Enum([...sourceStatuses], {
      title: 'SourceStatus',
      about: 'How far a source is. A source that failed keeps the pages that it has.',
    }),
    error: nullable(Type.String({ description: 'Why the last crawl failed.' })),
    pages: Type.Integer({ description: 'Pages that can be found.' }),
    waiting: Type.Integer({ description: 'Pages that are known and were not visited yet.' }),
    processing: Type.Integer({ description: 'Pages that are being embedded.' }),
    left_out: Type.Integer({ description: 'Pages that were left out; the list of pages says why.' }),
    ignored: Type.Integer({ description: 'Further addresses that were left out, because there were too many.' }),
    bytes: Type.Integer({ description: 'Bytes that the last crawl has fetched.' }),
    crawled_at: nullable(Timestamp),
    created_by: MadeBy,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Source', about: 'A part of the web that an assistant knows, and how far it has been read.' },
)

export const SourceList = Type.Object(
  { sources: Type.Array(Source), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'SourceList', about: 'A page of sources.' },
)

const PageStatus = Type.Enum([...sourcePageStatuses], {
  title: 'SourcePageStatus',
  about: '`left_out`: it is not read; `reason` says why.',
})

export const SourcePagesQuery = Type.Object({ ...NewestPage.properties, status: Type.Optional(PageStatus) })

const SourcePage = Type.Object(
  {
    url: Type.String(),
    title: nullable(Type.String()),
    status: PageStatus,
    reason: nullable(
      Type.String({ description: 'Why it was left out, or why it will be tried again or was not renewed.' }),
    ),
    depth: Type.Integer({ description: 'Links from the address of the source.' }),
    file_id: nullable(Type.String({ description: 'The file that passages of this page name.' })),
    fetched_at: nullable(Timestamp),
  },
  { title: 'SourcePage', about: 'An address of a source.' },
)

export const SourcePageList = Type.Object(
  { pages: Type.Array(SourcePage), limit: Type.Integer(), offset: Type.Integer() },
  { title: 'SourcePageList', about: 'A page of the addresses of a source.' },
)

export const SourceDeleted = Type.Object(
  {
    source_id: Type.String(),
    deleted: Type.Boolean({ description: 'False while it is still under way (status 202).' }),
    receipt_id: Type.String({ description: 'Id of the receipt: GET /receipts/{id}.' }),
  },
  { title: 'SourceDeleteResponse', about: 'The deletion of a source.' },
)

export const makerOf = ({ source: { user_id: holder, created_by: maker = holder } }: SourceView): string => maker

export function toSource(view: SourceView, makers: Makers): Static<typeof Source> {
  const { source, counts, pages } = view
  return {
    source_id: source._id,
    assistant_id: source.assistant_id,
    type: source.type,
    url: source.url,
    max_depth: source.max_depth,
    max_pages: source.max_pages,
    include: source.include,
    exclude: source.exclude,
    refresh: source.refresh ?? null,
    status: source.status,
    error: source.error ?? null,
    pages,
    waiting: counts.waiting,
    processing: counts.processing,
    left_out: counts.left_out,
    ignored: source.ignored,
    bytes: source.bytes,
    crawled_at: source.crawled_at?.toISOString() ?? null,
    created_by: toMaker(makers, makerOf(view)),
    created_at: source.created_at.toISOString(),
    updated_at: source.updated_at.toISOString(),
  }
}

export function toPage(page: SourcePageRecord): Static<typeof SourcePage> {
  return {
    url: page.url,
    title: page.title ?? null,
    status: page.status,
    reason: page.reason ?? null,
    depth: page.depth,
    file_id: page.file_id ?? null,
    fetched_at: page.fetched_at?.toISOString() ?? null,
  }
}
