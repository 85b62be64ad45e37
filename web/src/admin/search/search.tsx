import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AdminApi } from '../../lib/admin-api.ts'
import { type Schemas, queryClient, unwrap } from '../../lib/api.ts'
import { sayingOf } from '../../lib/error-messages.ts'
import { formatSeconds } from '../../lib/format.ts'
import { say } from '../../lib/toasts.ts'
import { useSubmit } from '../../lib/use-submit.ts'
import { texts } from '../../texts/index.ts'
import { operationMessages } from '../../texts/operation.ts'
import { Button } from '../../ui/button.tsx'
import { CheckField, SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loading } from '../../ui/states.tsx'

type Settings = Schemas['SearchSettings']
type Trial = Schemas['SearchTrial']
type Provider = NonNullable<Settings['web']['provider']>
type Tried = 'web' | 'embedding' | 'reranking'

const t = operationMessages.search
const key = ['admin', 'search']

/** Where the web is searched, and which servers search in files; each can be tried. */
export function Search({ api }: { api: AdminApi }) {
  const settings = useQuery({ queryKey: key, queryFn: () => unwrap(api.GET('/admin/search')) })
  return (
    <>
      <header className="page-head">
        <div>
          <h1>{t.title}</h1>
          <p className="muted">{t.text}</p>
        </div>
      </header>
      <Loading query={settings} lines={5} height={48} />
      {settings.data && (
        <>
          <WebSearch key={JSON.stringify(settings.data.web)} api={api} web={settings.data.web} />
          <Server what="embedding" api={api} server={settings.data.embedding}>
            {settings.data.embedding.dimensions !== null && t.dimensions(settings.data.embedding.dimensions)}
          </Server>
          <Server what="reranking" api={api} server={settings.data.reranking} />
        </>
      )}
    </>
  )
}

function WebSearch({ api, web }: { api: AdminApi; web: Settings['web'] }) {
  const isFixed = web.source === 'environment'
  const [provider, setProvider] = useState<Provider | ''>(web.provider ?? '')
  const [url, setUrl] = useState(web.base_url ?? '')
  const [secret, setSecret] = useState('')
  const [isKeyRemoved, setKeyRemoved] = useState(false)
  const isSame = provider === (web.provider ?? '') && url === (web.base_url ?? '')
  const form = useSubmit(async () => {
    const change = isKeyRemoved ? { api_key: null } : secret === '' ? {} : { api_key: secret }
    const body = { provider: provider === '' ? null : provider, base_url: url || null, ...change }
    queryClient.setQueryData(key, await unwrap(api.PUT('/admin/search', { body })))
    say(texts.saved)
  })
  const hasKey = web.key === 'set' && isSame && !isKeyRemoved
  return (
    <section className="card stack">
      <form className="form" onSubmit={form.onSubmit}>
        <h2>{t.web}</h2>
        <p className="muted small">{isFixed ? t.fixed : t.webHelp}</p>
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        {web.key === 'unreadable' && <Notice tone="danger">{operationMessages.models.keyUnreadable}</Notice>}
        <SelectField
          label={t.provider}
          disabled={isFixed}
          value={provider}
          onValue={(chosen) => {
            setProvider(chosen as typeof provider)
            setUrl('')
          }}
        >
          <option value="">{t.nowhere}</option>
          <option value="searxng">SearXNG</option>
          <option value="brave">Brave Search</option>
          <option value="tavily">Tavily</option>
        </SelectField>
        {provider !== '' && (
          <TextField
            label={t.address}
            help={provider === 'searxng' ? t.searxngHelp : t.addressHelp}
            type="url"
            required={provider === 'searxng'}
            readOnly={isFixed}
            maxLength={2000}
            placeholder={examples[provider]}
            value={url}
            onValue={setUrl}
          />
        )}
        {(provider === 'brave' || provider === 'tavily') && (
          <TextField
            label={operationMessages.models.key}
            help={hasKey ? keptKey(web.key_hint) : t.keyHelp}
            type="password"
            autoComplete="off"
            required={!hasKey}
            readOnly={isFixed}
            maxLength={2000}
            value={secret}
            onValue={setSecret}
          />
        )}
        {!isFixed && web.key === 'set' && provider === 'searxng' && (
          <CheckField label={operationMessages.models.noKey} checked={isKeyRemoved} onValue={setKeyRemoved} />
        )}
        {!isFixed && (
          <div>
            <Button type="submit" look="primary" busy={form.isBusy}>
              {texts.save}
            </Button>
          </div>
        )}
      </form>
      {web.provider !== null && <Try what="web" api={api} isReady={isSame && secret === ''} />}
    </section>
  )
}

const examples = {
  searxng: 'http://searxng.internal:8080',
  brave: 'https://api.search.brave.com/res/v1',
  tavily: 'https://api.tavily.com',
} as const

interface ServerProps {
  what: 'embedding' | 'reranking'
  api: AdminApi
  server: Settings['reranking']
  children?: ReactNode
}

/** A server that the environment sets. */
function Server({ what, api, server, children }: ServerProps) {
  const { kind, base_url: url, model } = server
  const words = t.servers[what]
  return (
    <section className="card stack" aria-label={words.title}>
      <div className="spread">
        <h2>{words.title}</h2>
        <span className={`badge ${kind === 'none' ? '' : 'badge-accent'}`}>{t.kinds[kind]}</span>
      </div>
      <p className="muted small">{words.text}</p>
      {kind !== 'none' && (
        <p className="small break">
          {[url ?? (kind === 'server' ? operationMessages.models.openAi : undefined), model, children]
            .filter(Boolean)
            .map((part, place) => (
              <span key={place}>
                {place > 0 && ' · '}
                {part}
              </span>
            ))}
        </p>
      )}
      <p className="muted small">{words.settings}</p>
      {(kind === 'server' || kind === 'built_in') && <Try what={what} api={api} isReady />}
    </section>
  )
}

/** Asks what is set a question, and shows what it answers. */
function Try({ what, api, isReady }: { what: Tried; api: AdminApi; isReady: boolean }) {
  const [query, setQuery] = useState<string>(t.examples[what])
  const [result, setResult] = useState<Trial>()
  const form = useSubmit(async () => {
    setResult(undefined)
    setResult(await unwrap(api.POST('/admin/search/try', { body: { what, query } })))
  })
  return (
    <div className="stack-small">
      <form className="search-form" onSubmit={form.onSubmit}>
        <TextField label={t.question[what]} required maxLength={400} value={query} onValue={setQuery} />
        <Button type="submit" busy={form.isBusy} disabled={!isReady}>
          {operationMessages.models.try}
          <span className="visually-hidden">: {what === 'web' ? t.web : t.servers[what].title}</span>
        </Button>
      </form>
      {!isReady && <p className="muted small">{t.saveFirst}</p>}
      <div aria-live="polite" className="stack-small">
        {form.problem && <Notice tone="danger">{form.problem}</Notice>}
        {/* What was tried is not what stands in the form any more. */}
        {isReady && result && <Result trial={result} />}
      </div>
    </div>
  )
}

function Result({ trial: { works, ms, problem, pages, dimensions, scores } }: { trial: Trial }) {
  return (
    <>
      <p className="trial">
        {works ? (
          <CircleCheck className="trial-ok" size={18} aria-hidden="true" />
        ) : (
          <CircleX className="trial-no" size={18} aria-hidden="true" />
        )}
        <strong>
          {works ? operationMessages.models.works : operationMessages.models.fails}, {formatSeconds(ms)}
        </strong>
        <span className="muted small">{dimensions === null ? '' : t.dimensions(dimensions)}</span>
      </p>
      {problem && <p className="muted small break">{sayingOf(problem)}</p>}
      {works && pages.length === 0 && dimensions === null && scores.length === 0 && <p>{t.nothing}</p>}
      <ul className="stack-small">
        {pages.map(({ title, url, text }) => (
          <li key={url}>
            <strong className="break">{title}</strong>
            <div className="muted small break">{url}</div>
            <div className="small clamp">{text}</div>
          </li>
        ))}
        {scores.map(({ text, score }) => (
          <li key={text} className="spread small">
            <span>{text}</span>
            <span className="muted">{score.toFixed(3)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

const keptKey = (hint: string): string => (hint === '' ? t.keyKept : t.keyKeptAs(hint))
