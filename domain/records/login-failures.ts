/** Wrong passwords in a row for one address; goes away by itself at the end of its window. */
export interface LoginFailuresRecord {
  /** SHA-256 of the address. */
  _id: string
  count: number
  window_ends: Date
}
