import { useQuery } from '@tanstack/react-query'
import { Globe, List, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { type Schemas, api, keys, queryClient, unwrap, useSources, wordsOf } from '../../lib/api.ts'
import { sentenceOf } from '../../lib/error-messages.ts'
import { formatDateTime } from '../../lib/format.ts'
import { useMembership } from '../../lib/membership.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { assistantMessages } from '../../texts/assistant.ts'
import { texts } from '../../texts/index.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog, DialogFoot } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading, ProgressBar } from '../../ui/states.tsx'

const t = assistantMessages.web
type Source = Schemas['Source']
const badges = { queued: '', crawling: 'badge-accent', ready: 'badge-ok', failed: 'badge-danger' }
const everyMs = 1500
const isOpen = ({ status }: Source) => status === 'queued' || status === 'crawling'

/** What the assistant knows of the web: sources with their progress, their pages, and a form for another one. */
export function WebSources({ assistantId }: { assistantId: string }) {
  const canEdit = useMembership().may('editor')
  const [isAdding, setAdding] = useState(false)
  const sources = useSources(assistantId)
  return (
    <section className="stack" aria-label={t.title}>
      <div className="spread">
        <h2>{t.title}</h2>
        {canEdit && (
          <Button size="small" onClick={() => setAdding(true)}>
            {t.add}
          </Button>
        )}
      </div>
      <Loading query={sources} lines={2} height={44} />
      {sources.data?.sources.length === 0 && <p className="muted">{t.none}</p>}
      {sources.data && sources.data.sources.length > 0 && (
        <ul className="file-list">
          {sources.data.sources.map((source) => (
            <SourceRow key={source.source_id} source={source} />
          ))}
        </ul>
      )}
      {isAdding && <AddDialog assistantId={assistantId} onClose={() => setAdding(false)} />}
    </section>
  )
}

const pathOf = ({ assistant_id: aid, source_id }: Source) => ({ params: { path: { aid, source_id } } })
const reload = (assistantId: string) => queryClient.invalidateQueries({ queryKey: keys.sources(assistantId) })

function SourceRow({ source }: { source: Source }) {
  const canEdit = useMembership().may('editor')
  const [open, setOpen] = useState<'pages' | 'delete'>()
  const { url, status, pages, waiting, processing, left_out: leftOut, ignored, error } = source
  const refresh = async () => {
    try {
      await unwrap(api.POST('/assistants/{aid}/sources/{source_id}/refresh', pathOf(source)))
      await reload(source.assistant_id)
    } catch (problem) {
      say(wordsOf(problem, texts.offline), 'danger')
    }
  }
  const remove = async () => {
    await unwrap(api.DELETE('/assistants/{aid}/sources/{source_id}', pathOf(source)))
    await reload(source.assistant_id)
  }
  const facts = [t.type[source.type], t.pages(pages)]
  if (leftOut + ignored > 0) facts.push(t.leftOut(leftOut + ignored))
  if (source.crawled_at !== null) facts.push(t.read(formatDateTime(source.crawled_at)))
  const known = pages + waiting + processing
  return (
    <li className="file-row">
      <Globe size={18} aria-hidden="true" className="muted" />
      <div className="grow">
        <div className="truncate" title={url}>
          {url}
        </div>
        <div className="muted small">{facts.join(' · ')}</div>
        {error && <div className="field-error">{sentenceOf(error) ?? t.unread}</div>}
        {isOpen(source) && <ProgressBar value={known === 0 ? 0.05 : pages / known} label={t.progress(url)} />}
      </div>
      <span className={`badge ${badges[status]}`}>
        {status === 'crawling' && <span className="spinner" aria-hidden="true" />}
        {t.status[status]}
      </span>
      <IconButton label={`${t.showPages}: ${url}`} icon={<List size={16} />} onClick={() => setOpen('pages')} />
      {canEdit && !isOpen(source) && (
        <IconButton label={`${t.refresh}: ${url}`} icon={<RotateCcw size={16} />} onClick={() => void refresh()} />
      )}
      {canEdit && (
        <IconButton label={`${texts.delete}: ${url}`} icon={<Trash2 size={16} />} onClick={() => setOpen('delete')} />
      )}
      {open === 'pages' && <PagesDialog source={source} onClose={() => setOpen(undefined)} />}
      {open === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          text={t.deleteText(url, pages)}
          action={texts.delete}
          onConfirm={remove}
          onClose={() => setOpen(undefined)}
          onDone={() => say(t.deleted(url))}
        />
      )}
    </li>
  )
}

const pagesShown = 200

/** The pages of a source, or those that were left out, and why. */
function PagesDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const [status, setStatus] = useState<'' | Schemas['SourcePageStatus']>('')
  const [limit, setLimit] = useState(pagesShown)
  const query = { limit, ...(status === '' ? {} : { status }) }
  const pages = useQuery({
    queryKey: [...keys.sourcePages(source.source_id), status, limit],
    queryFn: () =>
      unwrap(
        api.GET('/assistants/{aid}/sources/{source_id}/pages', {
          params: { ...pathOf(source).params, query },
        }),
      ),
    refetchInterval: isOpen(source) ? everyMs : false,
  })
  return (
    <Dialog title={t.pagesTitle} wide onClose={onClose}>
      <SelectField label={t.show} value={status} onValue={(value) => setStatus(statusOf(value))}>
        <option value="">{t.all}</option>
        {pageStatuses.map((one) => (
          <option key={one} value={one}>
            {t.pageStatus[one]}
          </option>
        ))}
      </SelectField>
      <Loading query={pages} lines={4} />
      {pages.data?.pages.length === 0 && <p className="muted">{t.noPages}</p>}
      <ul className="file-list">
        {pages.data?.pages.map((page) => (
          <li key={page.url} className="file-row">
            <div className="grow">
              <a className="truncate" href={page.url} target="_blank" rel="noreferrer noopener">
                {page.title ?? page.url}
              </a>
              {page.title !== null && <div className="muted small truncate">{page.url}</div>}
              {page.reason !== null && <div className="small">{sentenceOf(page.reason) ?? t.unread}</div>}
            </div>
            <span className="badge">{t.pageStatus[page.status]}</span>
          </li>
        ))}
      </ul>
      {pages.data?.pages.length === limit && limit < 1000 && (
        <Button size="small" onClick={() => setLimit(1000)}>
          {texts.knowledge.showMore}
        </Button>
      )}
    </Dialog>
  )
}

const pageStatuses = ['waiting', 'processing', 'ready', 'left_out'] as const
const statusOf = (value: string) => pageStatuses.find((one) => one === value) ?? ''

const refreshes = { '': undefined, daily: 86_400, weekly: 604_800 } as const
const sourceTypes = ['page', 'site', 'sitemap', 'feed'] as const
const listOf = (text: string) => text.split(/[\s,]+/).filter((glob) => glob !== '')

function AddDialog({ assistantId, onClose }: { assistantId: string; onClose: () => void }) {
  const [url, setUrl] = useState('')
  const [type, setType] = useState<Schemas['SourceType']>('site')
  const [maxPages, setMaxPages] = useState('500')
  const [maxDepth, setMaxDepth] = useState('5')
  const [include, setInclude] = useState('')
  const [exclude, setExclude] = useState('')
  const [again, setAgain] = useState<keyof typeof refreshes>('')
  const add = useSubmit(async () => {
    const seconds = refreshes[again]
    await unwrap(
      api.POST('/assistants/{aid}/sources', {
        params: { path: { aid: assistantId } },
        body: {
          type,
          url,
          ...(type === 'page' ? {} : { max_pages: Number(maxPages) }),
          ...(type === 'site' ? { max_depth: Number(maxDepth) } : {}),
          ...(include === '' ? {} : { include: listOf(include) }),
          ...(exclude === '' ? {} : { exclude: listOf(exclude) }),
          ...(seconds === undefined ? {} : { refresh: { interval_seconds: seconds } }),
        },
      }),
    )
    await reload(assistantId)
    onClose()
  })
  return (
    <Dialog title={t.addTitle} onClose={onClose}>
      <form className="stack" onSubmit={add.onSubmit}>
        <TextField
          label={t.address}
          type="url"
          required
          value={url}
          placeholder="https://"
          error={add.fields['url']}
          onValue={setUrl}
        />
        <SelectField
          label={t.what}
          value={type}
          help={t.typeHelp[type]}
          onValue={(value) => setType(sourceTypes.find((one) => one === value) ?? 'site')}
        >
          {sourceTypes.map((one) => (
            <option key={one} value={one}>
              {t.type[one]}
            </option>
          ))}
        </SelectField>
        {type !== 'page' && (
          <TextField
            label={t.maxPages}
            type="number"
            min={1}
            max={10_000}
            required
            value={maxPages}
            onValue={setMaxPages}
          />
        )}
        {type === 'site' && (
          <>
            <TextField
              label={t.maxDepth}
              type="number"
              min={0}
              max={20}
              required
              value={maxDepth}
              onValue={setMaxDepth}
            />
            <TextField label={t.include} value={include} help={t.globsHelp} mono onValue={setInclude} />
            <TextField label={t.exclude} value={exclude} mono onValue={setExclude} />
          </>
        )}
        <SelectField
          label={t.again}
          value={again}
          onValue={(value) => setAgain(value === 'daily' || value === 'weekly' ? value : '')}
        >
          <option value="">{t.never}</option>
          <option value="daily">{t.daily}</option>
          <option value="weekly">{t.weekly}</option>
        </SelectField>
        {add.problem && !add.fields['url'] && <Notice tone="danger">{add.problem}</Notice>}
        <DialogFoot action={t.add} busy={add.isBusy} onClose={onClose} />
      </form>
    </Dialog>
  )
}
