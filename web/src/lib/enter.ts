import { api, keys, queryClient, unwrap } from './api.ts'
import { keepKnown } from './known-folders.ts'
import { getSession, logIn } from './session.ts'

/** Begins the session of a user and removes all data of the previous one. */
export function enter(token: string): void {
  queryClient.clear()
  logIn(token)
  void lookForFolders(token)
}

/** This browser may not know yet that there are folders, which then come with the list of chats. Nothing waits for them. */
async function lookForFolders(token: string): Promise<void> {
  const queryFn = () => unwrap(api.GET('/folders/'))
  const folders = await queryClient.fetchQuery({ queryKey: keys.folders, queryFn }).catch(() => undefined)
  if (folders !== undefined && getSession()?.token === token) keepKnown(folders.length > 0)
}
