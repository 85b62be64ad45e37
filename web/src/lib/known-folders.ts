import { createListeners } from './listeners.ts'
import { getSession } from './session.ts'

const { notify, useRead } = createListeners()

/** For each user, in each project, in this browser: whether there are folders, so that they are loaded with the page. */
const key = () => `assistant-platform.folders.${getSession()?.userId}.${getSession()?.projectId}`

// Another tab has made the first folder.
window.addEventListener('storage', (event) => event.key === key() && notify())

const knowsFolders = (): boolean => localStorage.getItem(key()) !== null

export const useKnowsFolders = (): boolean => useRead(knowsFolders)

export function keepKnown(areThere: boolean): void {
  if (areThere === knowsFolders()) return
  if (areThere) localStorage.setItem(key(), 'true')
  else localStorage.removeItem(key())
  notify()
}
