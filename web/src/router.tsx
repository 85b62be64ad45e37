import { Outlet, createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { getSession } from './lib/session.ts'
import { keepSteps } from './lib/steps.ts'
import { Crashed, NotFound } from './pages/not-found.tsx'
import { lazyPage } from './ui/lazy-part.ts'
import { Skeleton } from './ui/states.tsx'

const optionalText = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)

function checkoutOf(search: Record<string, unknown>): { checkout?: string; session_id?: string } {
  const [checkout, id] = [optionalText(search['checkout']), optionalText(search['session_id'])]
  return { ...(checkout && { checkout }), ...(id && { session_id: id }) }
}

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound })

const home = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: getSession() ? '/console/chat' : '/login', replace: true })
  },
})

const login = createRoute({
  getParentRoute: () => root,
  path: '/login',
  component: lazyPage(() => import('./pages/account/log-in.tsx'), 'LogIn'),
  validateSearch: (search): { next?: string } => {
    const next = optionalText(search['next'])
    return next?.startsWith('/console') ? { next } : {}
  },
})
const signup = createRoute({
  getParentRoute: () => root,
  path: '/signup',
  component: lazyPage(() => import('./pages/account/sign-up.tsx'), 'SignUp'),
})
const verify = createRoute({
  getParentRoute: () => root,
  path: '/verify',
  component: lazyPage(() => import('./pages/account/sign-up.tsx'), 'Verify'),
  validateSearch: (search): { email?: string } => {
    const email = optionalText(search['email'])
    return email === undefined ? {} : { email }
  },
})
const forgot = createRoute({
  getParentRoute: () => root,
  path: '/forgot-password',
  component: lazyPage(() => import('./pages/account/forgot.tsx'), 'ForgotPassword'),
})
const reset = createRoute({
  getParentRoute: () => root,
  path: '/reset-password',
  component: lazyPage(() => import('./pages/account/forgot.tsx'), 'ResetPassword'),
})
const callback = createRoute({
  getParentRoute: () => root,
  path: '/auth-callback',
  component: lazyPage(() => import('./pages/account/auth-callback.tsx'), 'AuthCallback'),
})

/** What the mail of an invitation opens. */
const invitation = createRoute({
  getParentRoute: () => root,
  path: '/invitations',
  component: lazyPage(() => import('./pages/invitation.tsx'), 'InvitationPage'),
  validateSearch: (search): { token?: string } => {
    const token = optionalText(search['token'])
    return token === undefined ? {} : { token }
  },
})

const shell = createRoute({
  getParentRoute: () => root,
  path: '/console',
  component: lazyPage(() => import('./pages/shell.tsx'), 'Shell'),
  beforeLoad: ({ location }) => {
    if (!getSession()) throw redirect({ to: '/login', search: { next: location.href }, replace: true })
  },
})
const consoleHome = createRoute({
  getParentRoute: () => shell,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/console/chat', replace: true })
  },
})
const newChat = createRoute({
  getParentRoute: () => shell,
  path: '/chat',
  component: lazyPage(() => import('./pages/chat/new-chat.tsx'), 'NewChat'),
  /** `choose`: chats are chosen in the list at once, to delete them. */
  validateSearch: (search): { assistant?: string; choose?: true; folder?: string } => {
    const assistant = optionalText(search['assistant'])
    const folder = optionalText(search['folder'])
    return {
      ...(assistant !== undefined && { assistant }),
      ...(search['choose'] === true && { choose: true }),
      ...(folder !== undefined && { folder }),
    }
  },
})
const chat = createRoute({
  getParentRoute: () => shell,
  path: '/chat/$threadId',
  component: lazyPage(() => import('./pages/chat/conversation.tsx'), 'Chat'),
  validateSearch: (search): { message?: string } => {
    const message = optionalText(search['message'])
    return message === undefined ? {} : { message: message.slice(0, 200) }
  },
})
const printChat = createRoute({
  getParentRoute: () => root,
  path: '/console/print/$threadId',
  component: lazyPage(() => import('./pages/chat/print.tsx'), 'PrintChat'),
  beforeLoad: ({ location }) => {
    if (!getSession()) throw redirect({ to: '/login', search: { next: location.href }, replace: true })
  },
})
const sharedChat = createRoute({
  getParentRoute: () => root,
  path: '/s/$token',
  component: lazyPage(() => import('./pages/shared-chat.tsx'), 'SharedChat'),
})
const assistants = createRoute({
  getParentRoute: () => shell,
  path: '/assistants',
  component: lazyPage(() => import('./pages/assistants/list.tsx'), 'Assistants'),
})
const assistant = createRoute({
  getParentRoute: () => shell,
  path: '/assistants/$assistantId',
  component: lazyPage(() => import('./pages/assistants/assistant.tsx'), 'AssistantPage'),
  validateSearch: (search): { tab?: string } => {
    const tab = optionalText(search['tab'])
    return tab === undefined ? {} : { tab }
  },
})
/** The login server of an MCP server leads back here. */
const connected = createRoute({
  getParentRoute: () => shell,
  path: '/connected',
  component: lazyPage(() => import('./pages/assistants/connected.tsx'), 'Connected'),
  validateSearch: (search): { code?: string; state?: string; iss?: string } => {
    // The router takes texts of digits for numbers.
    const [code, state, iss] = ['code', 'state', 'iss'].map((name) =>
      optionalText(typeof search[name] === 'number' ? String(search[name]) : search[name]),
    )
    return { ...(code && { code }), ...(state && { state }), ...(iss && { iss }) }
  },
})
const projects = createRoute({
  getParentRoute: () => shell,
  path: '/projects',
  component: lazyPage(() => import('./pages/projects.tsx'), 'Projects'),
})
const people = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/people',
  component: lazyPage(() => import('./pages/people/people.tsx'), 'PeoplePage'),
})
const schedules = createRoute({
  getParentRoute: () => shell,
  path: '/schedules',
  component: lazyPage(() => import('./pages/schedules/list.tsx'), 'Schedules'),
})
const memory = createRoute({
  getParentRoute: () => shell,
  path: '/memory',
  component: lazyPage(() => import('./pages/memory/list.tsx'), 'Memory'),
})
const usage = createRoute({
  getParentRoute: () => shell,
  path: '/usage',
  component: lazyPage(() => import('./pages/usage.tsx'), 'Usage'),
})
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyPage(() => import('./pages/account/settings.tsx'), 'AccountSettings'),
})
const loginCode = createRoute({
  getParentRoute: () => shell,
  path: '/login-code',
  component: lazyPage(() => import('./pages/account/login-code.tsx'), 'LoginCode'),
  validateSearch: (search): { code?: string } => {
    const code = optionalText(search['code'])
    return code === undefined ? {} : { code: code.slice(0, 20) }
  },
})
const plans = createRoute({
  getParentRoute: () => shell,
  path: '/plans',
  component: lazyPage(() => import('./pages/plans.tsx'), 'Plans'),
  validateSearch: checkoutOf,
})
const data = createRoute({
  getParentRoute: () => shell,
  path: '/data',
  component: lazyPage(() => import('./pages/account/data.tsx'), 'AccountData'),
})
const audit = createRoute({
  getParentRoute: () => shell,
  path: '/audit',
  component: lazyPage(() => import('./pages/account/audit.tsx'), 'AccountAudit'),
})
/** The payment provider leads back here. */
const paid = createRoute({
  getParentRoute: () => root,
  path: '/usage',
  validateSearch: checkoutOf,
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/console/plans', search, replace: true })
  },
})
const deleted = createRoute({
  getParentRoute: () => root,
  path: '/console/goodbye',
  component: lazyPage(() => import('./pages/account/goodbye.tsx'), 'Goodbye'),
})

const routeTree = root.addChildren([
  home,
  login,
  signup,
  verify,
  forgot,
  reset,
  callback,
  invitation,
  deleted,
  paid,
  printChat,
  sharedChat,
  shell.addChildren([
    consoleHome,
    newChat,
    chat,
    assistants,
    assistant,
    connected,
    projects,
    people,
    schedules,
    memory,
    usage,
    plans,
    account,
    loginCode,
    data,
    audit,
  ]),
])

export const router = createRouter({
  routeTree,
  defaultPreload: 'intent',
  defaultErrorComponent: Crashed,
  defaultPendingComponent: () => (
    <div className="page">
      <Skeleton lines={6} />
    </div>
  ),
})

keepSteps(router)

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
