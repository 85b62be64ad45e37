import type { Services } from '../../../composition/platform.ts'
import type { Caller } from '../../../services/assistants/write-assistants.ts'
import type { ChatHost } from '../public/answer-chat.ts'

type Chat = Services['v1']['chat']

/** Answers completions on behalf of a project. */
export function chatHostOf(
  chat: Chat,
  caller: Caller,
  answering: Awaited<ReturnType<Chat['answering']>>,
  { isStored }: { isStored: boolean },
): ChatHost {
  return {
    assistant: answering.assistant,
    draft: () => chat.draft(caller, answering, { isStored }),
    input: (given, loc) => chat.input(caller, given, loc),
    start: chat.start,
    reserve: (newRun, runIds) => chat.reserve({ ...newRun, userId: caller.userId }, runIds),
    find: (id) => chat.find(caller, id),
    follow: chat.follow,
    forget: chat.forget,
  }
}
