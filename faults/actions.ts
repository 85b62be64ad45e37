import type { Caller } from './caller.ts'
import type { ClientLog } from './client-log.ts'
import type { createFollow } from './follow.ts'
import type { Random } from './random.ts'
import { createRecordActions } from './record-actions.ts'
import { createRequests } from './requests.ts'
import { createRunActions } from './run-actions.ts'

export type Actions = ReturnType<typeof createActions>

interface ActionsDeps {
  caller: Caller
  log: ClientLog
  random: Random
  follow: ReturnType<typeof createFollow>
  mails: string[]
}

/** The actions of clients. Each logs its intention before the request, and the acknowledgement after it. */
export function createActions(deps: ActionsDeps) {
  const requests = createRequests(deps)
  return { ...createRecordActions({ ...deps, requests }), ...createRunActions({ ...deps, requests }) }
}
