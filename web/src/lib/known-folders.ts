import { getSession } from './session.ts'

/** For each user, in each project, in this browser: whether there are folders, so that they are loaded with the page. */
const key = () => `assistant-platform.folders.${getSession()?.userId}.${getSession()?.projectId}`

export const knowsFolders = (): boolean => localStorage.getItem(key()) !== null

export function keepKnown(areThere: boolean): void {
  if (areThere) localStorage.setItem(key(), 'true')
  else localStorage.removeItem(key())
}
