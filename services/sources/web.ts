/** Reads the web as a crawler that says who it is; implemented by `infra/web`. */
export interface Web {
  /** What `robots.txt` says about the site of an address. */
  rulesOf(url: string, signal: AbortSignal): Promise<SiteRules>
  /**
   * One request for one address, in turn with all others to its host; redirects are told, not followed. Throws only the
   * signal's reason.
   */
  ask(url: string, options: AskOptions): Promise<WebAnswer>
}

export interface SiteRules {
  /** Why an address may not be read; undefined if it may. */
  refusal(url: string): string | undefined
  /** Pause between two requests. */
  pauseMs: number
  /** The site could not say; it may later. */
  isTemporary: boolean
}

export interface AskOptions {
  pauseMs: number
  /** Of the text that is known. */
  etag?: string | undefined
  lastModified?: string | undefined
  signal: AbortSignal
}

export type WebAnswer =
  | {
      kind: 'content'
      body: Buffer
      contentType: string
      charset: string | undefined
      etag: string | undefined
      lastModified: string | undefined
    }
  | { kind: 'unchanged' }
  | { kind: 'redirect'; to: string }
  /** `gone`: there is no such page. `failed`: it may work later. */
  | { kind: 'gone' | 'refused' | 'failed'; reason: string }
