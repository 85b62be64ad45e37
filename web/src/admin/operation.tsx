import { Activity as ActivityIcon, Brain, Eraser, LogOut, ScrollText, Server, Users as UsersIcon } from 'lucide-react'
import { useEffect, useState } from 'react'
import { createClient } from '../../../client/src/index.ts'
import { queryClient, unwrap } from '../lib/api.ts'
import { operationTexts } from '../texts/operation.ts'
import { Button } from '../ui/button.tsx'
import type { AdminApi } from './api.ts'
import { AskToken } from './ask-token.tsx'
import { Audit } from './audit.tsx'
import { Cleanups } from './cleanups.tsx'
import { Models } from './models/models.tsx'
import { Overview } from './overview.tsx'
import { QueuesPage } from './queues.tsx'
import { forgetToken, keptToken } from './token.ts'
import { Users } from './users.tsx'

const t = operationTexts.admin

const pages = [
  { id: 'overview', Icon: ActivityIcon, Page: Overview },
  { id: 'models', Icon: Brain, Page: Models },
  { id: 'users', Icon: UsersIcon, Page: Users },
  { id: 'queues', Icon: Server, Page: QueuesPage },
  { id: 'audit', Icon: ScrollText, Page: Audit },
  { id: 'cleanup', Icon: Eraser, Page: Cleanups },
] as const

/** The operator's page. Its token is kept in memory, or for the tab if the operator wants it. */
export function Operation() {
  const [api, setApi] = useState<AdminApi>()
  const [isLooking, setLooking] = useState(() => keptToken() !== undefined)
  const current = useHashPage()
  useEffect(() => {
    const token = keptToken()
    if (token === undefined) return
    const kept = apiWith(token)
    unwrap(kept.GET('/admin/system-stats'))
      .then(() => setApi(kept), forgetToken)
      .finally(() => setLooking(false))
  }, [])
  if (isLooking) return undefined
  if (!api) return <AskToken connect={apiWith} onToken={setApi} />
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
        <nav className="nav" aria-label={t.title}>
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

function apiWith(token: string): AdminApi {
  return createClient({ baseUrl: '', token: () => token })
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
