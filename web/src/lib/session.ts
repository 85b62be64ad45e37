import { useSyncExternalStore } from 'react'

const storageKey = 'assistant-platform.session'

/** The user who is logged in on this browser. The token is pinned to one project. */
export interface Session {
  token: string
  projectId: string
  userId: string
}

const listeners = new Set<() => void>()
/** Whether the session ended by itself, which the login tells. */
let isExpired = false
let current = read()

window.addEventListener('storage', (event) => {
  if (event.key === storageKey) update(read())
})

export function useSession(): Session | undefined {
  return useSyncExternalStore(subscribe, () => current)
}

export function getSession(): Session | undefined {
  return current
}

export const hasExpired = () => isExpired

/** Stores a token of the service. Its content is only read for display: the service verifies it. */
export function logIn(token: string): void {
  isExpired = false
  localStorage.setItem(storageKey, token)
  update(read())
}

/** The service does not take the token any more. */
export function expire(): void {
  logOut()
  isExpired = true
}

export function logOut(): void {
  isExpired = false
  localStorage.removeItem(storageKey)
  sessionStorage.clear()
  update(undefined)
}

function read(): Session | undefined {
  const token = localStorage.getItem(storageKey)
  const claims = token === null ? undefined : claimsOf(token)
  return token === null || claims === undefined ? undefined : { token, ...claims }
}

function claimsOf(token: string): { projectId: string; userId: string } | undefined {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/')
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0))
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof claims !== 'object' || claims === null) return undefined
    const exp: unknown = Reflect.get(claims, 'exp')
    if (typeof exp === 'number' && exp * 1000 < Date.now()) {
      isExpired = true
      return undefined
    }
    return { projectId: String(Reflect.get(claims, 'project_id')), userId: String(Reflect.get(claims, 'user_id')) }
  } catch {
    return undefined
  }
}

function update(session: Session | undefined): void {
  current = session
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** After an account was deleted: its receipt, which its last token can still read. Kept by this page only. */
let last: { receiptId: string; token: string } | undefined
export const tokenForReceipt = {
  keep(receiptId: string | undefined) {
    last = receiptId === undefined || current === undefined ? undefined : { receiptId, token: current.token }
  },
  read: () => last,
}
