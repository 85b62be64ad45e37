import { queryClient } from './api.ts'
import { logIn } from './session.ts'

/** Begins the session of a user: nothing that another one was shown stays. */
export function enter(token: string): void {
  queryClient.clear()
  logIn(token)
}
