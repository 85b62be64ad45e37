export interface Mail {
  to: string
  subject: string
  text: string
  html: string
  /** The same for every copy of the same mail, so that programs can detect copies. Without angle brackets. */
  messageId: string
  /** Where one click stops such mails (RFC 8058). */
  unsubscribeUrl?: string
}

export interface Mailer {
  /**
   * Resolves when the mail server has accepted the mail. Throws `bad_request` if it refused it permanently,
   * `upstream_failed` if it may accept it later, `unavailable` if none is configured.
   */
  send(mail: Mail): Promise<void>
  /** Rejects if the mail server does not answer. Undefined if none is configured. */
  ping: (() => Promise<void>) | undefined
  close(): void
}
