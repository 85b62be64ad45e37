import { isDraftKey } from './drafts.ts'
import { forgetHeld } from './held-decisions.ts'
import { createListeners } from './listeners.ts'

const storageKey = 'assistant-platform.session'
/** When the person logged in, in ms; a token of another project is made anew, and says nothing about that. */
const sinceKey = 'assistant-platform.session-since'
/** Why the session ended, if the user did not end it: for all tabs of the browser. */
const endedKey = 'assistant-platform.session-ended'

/** The user who is logged in on this browser. The token is pinned to one project. */
export interface Session {
  token: string
  projectId: string
  userId: string
}

/** Whose drafts this tab keeps. */
const ownerKey = 'assistant-platform.tab-owner'

const { notify, useRead } = createListeners()
let current = read()
keepFor(current)

window.addEventListener('storage', (event) => {
  if (event.key !== storageKey) return
  const next = read()
  // All that this page has loaded was for the person before.
  if (isOfAnother(next)) window.location.reload()
  else update(next)
})

export function useSession(): Session | undefined {
  return useRead(() => current)
}

export function getSession(): Session | undefined {
  return current
}

/** Why the session ended by itself, which the login tells: `password` if that was changed elsewhere. */
export const whyEnded = () => localStorage.getItem(endedKey)

/** Stores a token of the service. Its content is only read for display: the service verifies it. */
export function logIn(token: string): void {
  localStorage.removeItem(endedKey)
  localStorage.setItem(storageKey, token)
  localStorage.setItem(sinceKey, String(sinceOf(token)))
  update(read())
}

/** A token names the second in which it was made. */
const sinceOf = (token = '') => (claimsOf(token)?.iat ?? 0) * 1000 + 999

/** Goes on with a token of another project. */
export function switchTo(token: string): void {
  localStorage.setItem(storageKey, token)
  update(read())
}

/** Ends the session if the password was changed after the login, as `password_changed_at` of the user says. */
export function endIfOlderThan(passwordChangedAt: string | undefined): void {
  const since = Number(localStorage.getItem(sinceKey)) || sinceOf(current?.token)
  if (current !== undefined && passwordChangedAt !== undefined && Date.parse(passwordChangedAt) > since)
    expire('password')
}

/** For the session that has changed the password itself. */
export function knowsPasswordOf(passwordChangedAt: string | undefined): void {
  if (passwordChangedAt !== undefined) localStorage.setItem(sinceKey, String(Date.parse(passwordChangedAt)))
}

/** The service does not take the token any more. Of what the tab keeps, only drafts stay, for the same person. */
export function expire(why = 'time'): void {
  localStorage.setItem(endedKey, why)
  for (const key of Object.keys(sessionStorage))
    if (key !== ownerKey && !isDraftKey(key)) sessionStorage.removeItem(key)
  end()
}

export function logOut(): void {
  localStorage.removeItem(endedKey)
  sessionStorage.clear()
  end()
}

function end(): void {
  localStorage.removeItem(storageKey)
  localStorage.removeItem(sinceKey)
  forgetHeld()
  update(undefined)
}

function read(): Session | undefined {
  const token = localStorage.getItem(storageKey)
  const claims = token === null ? undefined : claimsOf(token)
  return token === null || claims === undefined
    ? undefined
    : { token, projectId: claims.projectId, userId: claims.userId }
}

function claimsOf(token: string): { projectId: string; userId: string; iat: number } | undefined {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof claims !== 'object' || claims === null) return undefined
    const exp: unknown = Reflect.get(claims, 'exp')
    if (typeof exp === 'number' && exp * 1000 < Date.now()) {
      localStorage.setItem(endedKey, 'time')
      return undefined
    }
    return {
      projectId: String(Reflect.get(claims, 'project_id')),
      userId: String(Reflect.get(claims, 'user_id')),
      iat: Number(Reflect.get(claims, 'iat')),
    }
  } catch {
    return undefined
  }
}

function isOfAnother(session: Session | undefined): boolean {
  const owner = sessionStorage.getItem(ownerKey)
  return owner !== null && session !== undefined && session.userId !== owner
}

/** What another person left in this tab, also by a login in another tab, is not shown. */
function keepFor(session: Session | undefined): void {
  if (session === undefined) return
  if (isOfAnother(session)) sessionStorage.clear()
  sessionStorage.setItem(ownerKey, session.userId)
}

function update(session: Session | undefined): void {
  keepFor(session)
  current = session
  notify()
}

/** After an account was deleted: its receipt, which its last token can still read. Kept by this page only. */
let last: { receiptId: string; token: string } | undefined
export const tokenForReceipt = {
  keep(receiptId: string | undefined) {
    last = receiptId === undefined || current === undefined ? undefined : { receiptId, token: current.token }
  },
  read: () => last,
}
