/** `fetch` as Node has it. */
export type Fetch = typeof globalThis.fetch

export interface OutboundOptions {
  /** Redirects that are followed; the next one is an error. */
  maxRedirects?: number
  /** Called for the first request and for every redirect, with its method in capitals; throws to refuse one. */
  checkRequest?: (url: URL, method: string) => void
  /** Most bytes of a body; reading more is an error. For readers that would hold all of it. */
  maxBytes?: number
}

/**
 * The way to addresses that users set. Whatever the name or the redirect, no connection is made to an
 * address inside our own network unless the settings allow it. `infra/outbound` implements it.
 */
export interface Outbound {
  /** Throws `AddressRefusedError` for an address that may not be reached. */
  fetch: Fetch
  fetchWith(options: OutboundOptions): Fetch
  /** Throws an `AppError` `invalid_input` when the URL may not be reached or its name cannot be resolved; does not connect. */
  assertReachable(url: string, loc: (string | number)[]): Promise<void>
}
