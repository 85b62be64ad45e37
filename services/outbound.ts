import type { JsonLimits } from '../domain/foreign-json.ts'

/** `fetch` as Node has it. */
export type Fetch = typeof globalThis.fetch

export interface OutboundOptions {
  /** Maximum number of redirects. */
  maxRedirects?: number
  /** Called for the first request and for every redirect, with the method in capitals; throws to refuse one. */
  checkRequest?: (url: URL, method: string) => void
  /** Maximum size of a body in bytes, for callers that read all of it into memory. */
  maxBytes?: number
  /** For libraries that parse answers themselves: they get only JSON within these limits (`foreign-json.ts`). */
  json?: Partial<JsonLimits> & Pick<JsonLimits, 'bytes'>
}

/**
 * Requests to addresses that users choose. No connection is made to an address inside our own network, whatever the
 * name or redirect, unless the settings allow it. `infra/outbound` implements it.
 */
export interface Outbound {
  /** Throws `AddressRefusedError` for an address that is not allowed. */
  fetch: Fetch
  fetchWith(options: OutboundOptions): Fetch
  /**
   * Throws an `AppError` `invalid_input` if the URL is not allowed or its name cannot be resolved; does not
   * connect.
   */
  assertReachable(url: string, loc: (string | number)[]): Promise<void>
}
