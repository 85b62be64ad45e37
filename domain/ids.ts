import { v7, validate, version } from 'uuid'

/** A new time-ordered UUID (version 7, RFC 9562). */
export function newId(): string {
  return v7()
}

/** Whether a text looks like an id that `newId` has made. */
export function isGeneratedId(text: string): boolean {
  return validate(text) && version(text) === 7
}

/** Not after any id that was made at or after that time. */
export function firstIdAt(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

/** What a client may choose as the id of an assistant or a thread. */
export const clientIdPattern = '^[A-Za-z0-9._~-]{1,128}$'
