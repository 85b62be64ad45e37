/** Consecutive wrong passwords for one address; a TTL index removes it at the end of its window. */
export interface LoginFailuresRecord {
  /** SHA-256 of the address. */
  _id: string
  count: number
  window_ends: Date
}
