import { api, keys, queryClient, unwrap } from './api.ts'
import { keepKnown } from './known-folders.ts'
import { logIn } from './session.ts'

/** A slow answer about folders does not hold the login up for longer. */
const longestMs = 2000

/** Begins the session of a user and removes all data of the previous one. */
export async function enter(token: string): Promise<void> {
  queryClient.clear()
  logIn(token)
  // This browser may not know yet that there are folders, which then come with the list of chats.
  const folders = await unwrap(api.GET('/folders/', { signal: AbortSignal.timeout(longestMs) })).catch(() => undefined)
  if (folders === undefined) return
  queryClient.setQueryData(keys.folders, folders)
  keepKnown(folders.length > 0)
}
