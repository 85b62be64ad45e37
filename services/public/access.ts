import { createHash, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../domain/errors.ts'
import type { AssistantRecord } from '../../domain/records/assistant.ts'
import type { Collections } from '../collections.ts'

export type PublicAccess = ReturnType<typeof createPublicAccess>

/**
 * Who may use an assistant without an account: its access mode decides. `tokens` are all that a
 * caller handed over; one that fits is enough.
 */
export function createPublicAccess({ assistants }: Pick<Collections, 'assistants'>) {
  return {
    /** The assistant of that id. Throws `not_found`, `forbidden` while it is closed, `unauthenticated` without its token. */
    async byId(assistantId: string, tokens: string[]): Promise<AssistantRecord> {
      const assistant = await assistants.findOne({ _id: assistantId, deleting: { $ne: true } }).lean<AssistantRecord>()
      if (assistant === null) throw new AppError('not_found', 'There is no such assistant.')
      switch (assistant.access_mode) {
        case 'authenticated':
          throw new AppError('forbidden', 'This assistant is not open to the public.')
        case 'public_token':
          if (!tokens.some((token) => holds(assistant, token))) throw refused()
          return assistant
        case 'public_no_auth':
          return assistant
      }
    },

    /** The assistant that a token selects. Throws `unauthenticated`, whatever is wrong, so that tokens cannot be told apart. */
    async byToken(tokens: string[]): Promise<AssistantRecord> {
      for (const token of tokens) {
        const assistant = await assistants
          .findOne({ public_token: token, deleting: { $ne: true } })
          .lean<AssistantRecord>()
        if (assistant !== null && assistant.access_mode !== 'authenticated' && holds(assistant, token)) return assistant
      }
      throw refused()
    },
  }
}

function refused(): AppError {
  return new AppError('unauthenticated', 'The public token is missing or wrong.')
}

/** Compares digests: the time taken does not depend on how much of a guess is right. */
function holds({ public_token: expected }: AssistantRecord, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return expected !== undefined && timingSafeEqual(digest(token), digest(expected))
}
