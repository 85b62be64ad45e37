export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** Same for every copy of the same mail, so that programs can tell. Without angle brackets. */
  messageId: string
}

export interface Mailer {
  /**
   * Resolves when the mail server took the mail. Throws `bad_request` when it refused it for good,
   * `upstream_failed` when it may take it later, `unavailable` when none is configured.
   */
  send(mail: Mail): Promise<void>
  /** Rejects when the mail server does not answer. Undefined when none is configured. */
  ping: (() => Promise<void>) | undefined
  close(): void
}
