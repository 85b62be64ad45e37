import { v7 } from 'uuid'

/** A new time-ordered UUID (version 7, RFC 9562). */
export function newId(): string {
  return v7()
}

/** What a client may choose as the id of an assistant or a thread. */
export const clientIdPattern = '^[A-Za-z0-9._~-]{1,128}$'
