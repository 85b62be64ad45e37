import { queryClient } from './api.ts'
import { logIn } from './session.ts'

/** Begins the session of a user and removes all data of the previous one. */
export function enter(token: string): void {
  queryClient.clear()
  logIn(token)
}
