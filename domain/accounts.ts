import type { Language } from './languages.ts'
import type { UserRecord } from './records/user.ts'

export const passwordLength = { min: 8, max: 256 }

/** Counts code points, not UTF-16 units. Only the length is checked. */
export function isAcceptablePassword(password: string): boolean {
  const length = Array.from(password).length
  return length >= passwordLength.min && length <= passwordLength.max
}

/** What is shown of a user. Times are ISO 8601. */
export interface PublicUser {
  user_id: string
  email: string | null
  provider: UserRecord['provider']
  first_name: string | null
  last_name: string | null
  language?: Language
  verified: boolean
  thread_counter: number
  thread_max: number
  created_at: string
}

export function publicUser(user: UserRecord): PublicUser {
  return {
    user_id: user._id,
    email: user.email ?? null,
    provider: user.provider,
    first_name: user.first_name ?? null,
    last_name: user.last_name ?? null,
    ...(user.language === undefined ? {} : { language: user.language }),
    verified: user.verified,
    thread_counter: user.thread_counter,
    thread_max: user.thread_max,
    created_at: user.created_at.toISOString(),
    ...(user.password_changed_at && { password_changed_at: user.password_changed_at.toISOString() }),
  }
}
