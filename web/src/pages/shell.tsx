import { Link, Outlet, useNavigate, useRouterState, useSearch } from '@tanstack/react-router'
import {
  Archive,
  Bot,
  Brain,
  CalendarClock,
  ChartColumn,
  ChevronsUpDown,
  CreditCard,
  FolderKanban,
  LogOut,
  Menu as MenuIcon,
  ScrollText,
  SquarePen,
  UserRound,
  UsersRound,
} from 'lucide-react'
import { Suspense, useCallback, useEffect, useRef, useState } from 'react'
import { type Project, queryClient, useConsoleSettings, useMeEachMinute, useProjectsEachMinute } from '../lib/api.ts'
import { changeLanguage, setLanguage } from '../lib/change-language.ts'
import { chosenLanguage, language, languageName, languages } from '../lib/language.ts'
import { roleName } from '../lib/membership.ts'
import { openProject } from '../lib/open-project.ts'
import { personName } from '../lib/person.ts'
import { productName } from '../lib/product.ts'
import { endIfOlderThan, logOut, useSession, whyEnded } from '../lib/session.ts'
import { useStep } from '../lib/steps.ts'
import { setTheme } from '../lib/theme.ts'
import { useLater } from '../lib/use-later.ts'
import { useShortcuts } from '../lib/use-shortcuts.ts'
import { useTheme } from '../lib/use-theme.ts'
import { texts } from '../texts/index.ts'
import { IconButton } from '../ui/button.tsx'
import { lazyPart } from '../ui/lazy-part.ts'
import { Menu } from '../ui/menu.tsx'
import { AccessEnded } from './access-ended.tsx'
import { ThreadList } from './chat/thread-list.tsx'

const ScheduleNews = lazyPart(() => import('./schedules/schedule-news.tsx'))
const Palette = lazyPart(async () => ({ default: (await import('./palette.tsx')).Palette }))
const ShortcutsDialog = lazyPart(async () => ({ default: (await import('./palette.tsx')).ShortcutsDialog }))
const t = texts.nav
const laterMs = 10_000

const links = [
  { to: '/console/assistants', label: t.assistants, Icon: Bot },
  { to: '/console/projects', label: t.projects, Icon: FolderKanban },
  { to: '/console/schedules', label: t.schedules, Icon: CalendarClock },
  { to: '/console/memory', label: t.memory, Icon: Brain },
  { to: '/console/usage', label: t.usage, Icon: ChartColumn },
] as const

/** The frame around every page of a logged-in user. */
export function Shell() {
  const session = useSession()
  const navigate = useNavigate()
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  useStep(isOpen, close)
  const sidebar = useRef<HTMLElement>(null)
  const menuButton = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (!isOpen) return
    const [menu, opener] = [sidebar.current, menuButton.current]
    menu?.focus()
    return () => {
      if (menu?.contains(document.activeElement) || document.activeElement === document.body) opener?.focus()
    }
  }, [isOpen])
  const isLater = useLater(laterMs)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(() => setOpen(false), [path])
  // On a phone the list of chats is in the menu.
  const { choose } = useSearch({ strict: false })
  useEffect(() => {
    if (choose === true && window.matchMedia('(max-width: 800px)').matches) setOpen(true)
  }, [choose])
  useEffect(() => {
    if (!session && path.startsWith('/console') && path !== '/console/goodbye')
      void navigate({ to: '/login', search: whyEnded() ? { next: path } : {}, replace: true })
  }, [session, navigate, path])
  if (!session) return undefined
  return (
    <div className="shell">
      <a href="#main" className="skip-link">
        {texts.skip}
      </a>
      <header className="topbar">
        <IconButton
          ref={menuButton}
          label={t.menu}
          icon={<MenuIcon size={20} />}
          aria-expanded={isOpen}
          aria-controls="sidebar"
          onClick={() => setOpen(true)}
        />
        <span className="brand">
          <span className="truncate">{productName}</span>
        </span>
        <Link to="/console/chat" className="button button-icon" aria-label={t.newChat} title={t.newChat}>
          <SquarePen size={18} />
        </Link>
      </header>
      {isOpen && <button type="button" className="scrim" aria-label={texts.close} onClick={close} />}
      <aside
        ref={sidebar}
        className="sidebar"
        tabIndex={-1}
        id="sidebar"
        data-open={isOpen}
        onKeyDown={(event) => event.key === 'Escape' && close()}
      >
        <Link to="/console/chat" className="brand">
          <img src="/icon.svg" alt="" />
          <span className="truncate">{productName}</span>
        </Link>
        <ProjectMenu />
        <nav aria-label={t.label} className="nav">
          <Link
            to="/console/chat"
            className="nav-link"
            activeOptions={{ exact: true, includeSearch: false }}
            activeProps={{ 'aria-current': 'page' }}
          >
            <SquarePen size={17} aria-hidden="true" />
            {t.newChat}
          </Link>
          {links.map(({ to, label, Icon }) => (
            <Link key={to} to={to} className="nav-link" activeProps={{ 'aria-current': 'page' }}>
              <Icon size={17} aria-hidden="true" />
              {label}
              {to === '/console/schedules' && isLater && (
                <Suspense>
                  <ScheduleNews />
                </Suspense>
              )}
            </Link>
          ))}
        </nav>
        <ThreadList />
        <div className="sidebar-foot">
          <UserMenu />
        </div>
      </aside>
      <main className="main" id="main" tabIndex={-1}>
        <AccessEnded />
        <Outlet />
      </main>
      <KeyboardHelp />
    </div>
  )
}

/** What the keys open: a search over everything, and a list of the keys. */
function KeyboardHelp() {
  const navigate = useNavigate()
  const [shown, setShown] = useState<'palette' | 'help'>()
  const palette = useCallback(() => setShown('palette'), [])
  const help = useCallback(() => setShown('help'), [])
  const newChat = useCallback(() => void navigate({ to: '/console/chat' }), [navigate])
  useShortcuts({ palette, help, newChat })
  const close = () => setShown(undefined)
  return (
    <Suspense>
      {shown === 'palette' && <Palette onClose={close} onHelp={help} />}
      {shown === 'help' && <ShortcutsDialog onClose={close} />}
    </Suspense>
  )
}

/** The projects of the user and those that others share with him: whose they are, and with which role. */
function ProjectMenu() {
  const projects = useProjectsEachMinute()
  const session = useSession()
  const navigate = useNavigate()
  const list = projects.data ?? []
  const current = list.find(({ project_id: id }) => id === session?.projectId)
  const isShared = (project: Project) => project.owner.user_id !== session?.userId
  const whose = (project: Project) =>
    isShared(project)
      ? texts.roles.projectOf(personName(project.owner), roleName(project.role))
      : texts.roles.ownProject
  const hasShared = list.some(isShared)
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="button">
          <FolderKanban size={16} aria-hidden="true" />
          <span className="grow project-name">
            <span className="visually-hidden">{t.project}: </span>
            <span className="truncate block">{current?.name ?? '…'}</span>
            {current && isShared(current) && <span className="truncate block muted small">{whose(current)}</span>}
          </span>
          <ChevronsUpDown size={15} aria-hidden="true" />
        </button>
      }
      entries={[
        ...list.map((project) => ({
          key: project.project_id,
          label: project.name,
          note: hasShared ? whose(project) : undefined,
          isCurrent: project === current,
          onSelect: () =>
            void openProject(project.project_id, project.name).then(() => navigate({ to: '/console/chat' })),
        })),
        'line',
        ...(current === undefined
          ? []
          : [
              {
                label: texts.roles.people,
                icon: <UsersRound size={16} aria-hidden="true" />,
                onSelect: () =>
                  void navigate({
                    to: '/console/projects/$projectId/people',
                    params: { projectId: current.project_id },
                  }),
              },
            ]),
        { label: t.manageProjects, onSelect: () => void navigate({ to: '/console/projects' }) },
      ]}
    />
  )
}

function UserMenu() {
  const me = useMeEachMinute()
  const sells = useConsoleSettings()?.billing === true
  const theme = useTheme()
  const ofAccount = me.data?.language
  useEffect(() => {
    if (ofAccount && chosenLanguage() === undefined) setLanguage(ofAccount)
  }, [ofAccount])
  const passwordChangedAt = me.data?.password_changed_at
  useEffect(() => endIfOlderThan(passwordChangedAt), [passwordChangedAt])
  const navigate = useNavigate()
  const name = [me.data?.first_name, me.data?.last_name].filter(Boolean).join(' ')
  const email = me.data?.email ?? ''
  const leave = () => {
    logOut()
    queryClient.clear()
    void navigate({ to: '/login' })
  }
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="user-button">
          <span className="visually-hidden">{texts.account.menu}: </span>
          <span className="avatar" aria-hidden="true">
            {(name || email).slice(0, 1).toUpperCase()}
          </span>
          <span className="grow">
            <span className="truncate block">{name || email}</span>
            {name && <span className="truncate block muted small">{email}</span>}
          </span>
        </button>
      }
      entries={[
        {
          label: texts.account.settings,
          icon: <UserRound size={16} aria-hidden="true" />,
          onSelect: () => void navigate({ to: '/console/account' }),
        },
        ...(sells
          ? [
              {
                label: texts.plans.title,
                icon: <CreditCard size={16} aria-hidden="true" />,
                onSelect: () => void navigate({ to: '/console/plans' }),
              },
            ]
          : []),
        {
          label: texts.data.title,
          icon: <Archive size={16} aria-hidden="true" />,
          onSelect: () => void navigate({ to: '/console/data' }),
        },
        {
          label: texts.account.auditLog,
          icon: <ScrollText size={16} aria-hidden="true" />,
          onSelect: () => void navigate({ to: '/console/audit' }),
        },
        { label: t.apiDocs, onSelect: () => void window.open('/docs', '_blank', 'noreferrer') },
        'line',
        ...(['light', 'dark', 'system'] as const)
          .filter((other) => other !== theme)
          .map((other) => ({ label: texts.nav.themes[other], onSelect: () => setTheme(other) })),
        ...languages
          .filter((other) => other !== language)
          .map((other) => ({ label: languageName(other), onSelect: () => void changeLanguage(other) })),
        'line',
        { label: texts.account.logOut, icon: <LogOut size={16} aria-hidden="true" />, onSelect: leave },
      ]}
    />
  )
}
