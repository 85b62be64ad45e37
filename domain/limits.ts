/**
 * Limits for the members of a request. The schemas of the routes use them, so that a request is refused before it
 * is processed. A member with a stricter rule of its own (a password, a project's name) has a loose limit here, and
 * its rule gives a specific error.
 */
export const requestLimits = {
  /** Files of one upload: their ids are one argument of a workflow. */
  uploadFiles: 10_000,
  /** Characters of one message. */
  messageLength: 2 * 1024 * 1024,
  /** Messages of one request, and parts of one message. */
  messages: 1000,
  /** Tool calls of one message. */
  toolCalls: 128,
  /** Characters of an id made by a model, a client or an identity provider. */
  foreignIdLength: 1000,
  /** Characters of a name that people or models read. */
  nameLength: 1000,
  /** Characters of a text in an assistant's configuration. */
  configTextLength: 1024 * 1024,
  /** Entries of a list in an assistant's configuration. */
  configEntries: 100,
  /** Characters of a secret or a code; the bodies of account routes are no larger. */
  credentialLength: 64 * 1024,
  /** Characters of other texts, such as a description. */
  textLength: 100_000,
  /** Of what a run adds to the instructions of its assistant. */
  runInstructionsLength: 20_000,
  /** Files to which a run may restrict its search. */
  runFiles: 20,
} as const

/** Of an assistant, or of a thread. The search of each costs as much as that of the assistant's own files. */
export const maxVectorStores = 10
/** Files of the project for code of an assistant, or of a thread. */
export const maxCodeFiles = 100
