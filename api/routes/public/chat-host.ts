import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { PublicFamily } from '../../../services/public/index.ts'
import type { ChatHost } from './answer-chat.ts'

/** Answers completions on behalf of a public assistant: each is a run on a new public thread. */
export function publicChatHost(
  publicFamily: PublicFamily,
  assistant: AssistantRecord,
  { isStored }: { isStored: boolean },
): ChatHost {
  return {
    assistant,
    draft: () => publicFamily.threads.draft(assistant, { isStored }),
    input: (given, loc) => publicFamily.input(assistant, given, loc),
    ...publicFamily.runsOf(assistant),
    start: publicFamily.start,
    forget: publicFamily.forget,
  }
}
