/**
 * How much one request may hold. The schemas of the routes state these bounds, so that a request is
 * refused before anything is made from it. A member whose business rule is stricter (a password, a
 * project's name) gets the loose bound here and its own error from its rule.
 */
export const requestLimits = {
  /** Characters of one message. */
  messageLength: 2 * 1024 * 1024,
  /** Messages of one request, and parts of one message. */
  messages: 1000,
  /** Tool calls of one message. */
  toolCalls: 128,
  /** Characters of an id that a model, a client or an identity provider made. */
  foreignIdLength: 1000,
  /** Characters of a name that people or models read. */
  nameLength: 1000,
  /** Characters of a text that an assistant's configuration holds. */
  configTextLength: 1024 * 1024,
  /** Entries of a list in an assistant's configuration. */
  configEntries: 100,
  /** Characters of a secret or a code; the bodies of account routes are no larger. */
  credentialLength: 64 * 1024,
  /** Characters of other texts, such as a description. */
  textLength: 100_000,
} as const
