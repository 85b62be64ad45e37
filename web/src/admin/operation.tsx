import {
  Activity as ActivityIcon,
  Brain,
  Eraser,
  LogOut,
  ScrollText,
  Search as SearchIcon,
  Server,
  Users as UsersIcon,
} from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { type AdminApi, adminApi } from '../lib/admin-api.ts'
import { queryClient, readConsoleSettings, unwrap } from '../lib/api.ts'
import { localOperator } from '../lib/local-page.ts'
import { useSubmit } from '../lib/use-submit.ts'
import { operationMessages } from '../texts/operation.ts'
import { Button } from '../ui/button.tsx'
import { CheckField, TextField } from '../ui/field.tsx'
import { Notice } from '../ui/notice.tsx'
import { Audit } from './audit.tsx'
import { Cleanups } from './cleanups.tsx'
import { Models } from './models/models.tsx'
import { Overview } from './overview.tsx'
import { QueuesPage } from './queues.tsx'
import { Search } from './search/search.tsx'
import { forgetToken, keepToken, keptToken } from './token.ts'
import { Users } from './users.tsx'

const t = operationMessages.admin

const pages = [
  { id: 'overview', Icon: ActivityIcon, Page: Overview },
  { id: 'models', Icon: Brain, Page: Models },
  { id: 'search', Icon: SearchIcon, Page: Search },
  { id: 'users', Icon: UsersIcon, Page: Users },
  { id: 'queues', Icon: Server, Page: QueuesPage },
  { id: 'audit', Icon: ScrollText, Page: Audit },
  { id: 'cleanup', Icon: Eraser, Page: Cleanups },
] as const

/** The operator's page. Its token is kept in memory, or for the tab if the operator wants it. */
export function Operation() {
  const [api, setApi] = useState<AdminApi>()
  const [isLooking, setLooking] = useState(true)
  const current = useHashPage()
  const nav = useRef<HTMLElement>(null)
  // On a phone the pages stand in one row, which scrolls.
  useEffect(() => {
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current, api])
  useEffect(() => {
    firstRight()
      .then(setApi, () => {})
      .finally(() => setLooking(false))
  }, [])
  if (isLooking) return undefined
  if (!api) return <AskToken connect={adminApi} onToken={setApi} />
  const leave = () => {
    forgetToken()
    queryClient.clear()
    setApi(undefined)
  }
  const { Page } = current
  return (
    <div className="op">
      <header className="op-rail">
        <a className="brand" href="#overview">
          <img src="/icon.svg" alt="" />
          {t.title}
        </a>
        <nav ref={nav} className="nav" aria-label={t.title}>
          {pages.map(({ id, Icon }) => (
            <a key={id} href={`#${id}`} className="nav-link" aria-current={id === current.id ? 'page' : undefined}>
              <Icon size={17} aria-hidden="true" />
              {t.pages[id]}
            </a>
          ))}
        </nav>
        <div className="op-rail-foot">
          <a className="button button-small" href="/console">
            {t.toConsole}
          </a>
          <Button size="small" onClick={leave}>
            <LogOut size={15} aria-hidden="true" />
            {t.leave}
          </Button>
        </div>
      </header>
      <main className="page">
        <Page api={api} />
      </main>
    </div>
  )
}

/** The right that the page has without asking: of a kept token, or of the person at this machine. */
async function firstRight(): Promise<AdminApi | undefined> {
  const token = keptToken()
  if (token !== undefined) {
    const kept = adminApi(token)
    if ((await kept.GET('/admin/system-stats').catch(() => undefined))?.data) return kept
    forgetToken()
  }
  return (await readConsoleSettings()).local_page ? localOperator() : undefined
}

function useHashPage() {
  const [hash, setHash] = useState(() => window.location.hash.slice(1))
  useEffect(() => {
    const onChange = () => setHash(window.location.hash.slice(1))
    window.addEventListener('hashchange', onChange)
    return () => window.removeEventListener('hashchange', onChange)
  }, [])
  return pages.find(({ id }) => id === hash) ?? pages[0]
}

interface AskTokenProps {
  connect: (token: string) => AdminApi
  onToken: (api: AdminApi) => void
}

function AskToken({ connect, onToken }: AskTokenProps) {
  const [token, setToken] = useState('')
  const [isKept, setKept] = useState(false)
  const form = useSubmit(async () => {
    const given = token.trim()
    const api = connect(given)
    await unwrap(api.GET('/admin/system-stats'))
    if (isKept) keepToken(given)
    onToken(api)
  })
  return (
    <main className="welcome-form full-height">
      <div>
        <div className="stack-small">
          <h1>{t.title}</h1>
          <p className="muted">{t.askText}</p>
        </div>
        <form className="form" onSubmit={form.onSubmit}>
          {form.problem && <Notice tone="danger">{form.problem}</Notice>}
          <TextField
            label={t.token}
            help={t.tokenHelp}
            type="password"
            autoComplete="off"
            required
            autoFocus
            value={token}
            onValue={setToken}
          />
          <CheckField label={t.keepToken} help={t.keepTokenHelp} checked={isKept} onValue={setKept} />
          <Button type="submit" look="primary" wide busy={form.isBusy}>
            {t.enter}
          </Button>
        </form>
      </div>
    </main>
  )
}
