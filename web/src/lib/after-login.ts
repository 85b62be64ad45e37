/** Where to go on after a login: kept by this tab, also over a sign-up or the page of an identity provider. */
const key = 'assistant-platform.after-login'
const home = '/console/chat'

/** Only the page of an invitation is kept. */
export function goOnAt(path: string): void {
  if (path.startsWith('/invitations?')) sessionStorage.setItem(key, path)
}

/** The page to go on at, once. */
export function takePlace(): string {
  const path = sessionStorage.getItem(key) ?? home
  sessionStorage.removeItem(key)
  return path
}
