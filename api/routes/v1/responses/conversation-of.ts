import type { Services } from '../../../../composition/platform.ts'
import type { ThreadRecord } from '../../../../domain/records/thread.ts'

/** The thread that a request names, by the id of a conversation or as an object. */
export async function conversationOf(
  conversations: Pick<Services['v1']['conversations'], 'find'>,
  caller: { userId: string; projectId: string },
  named: string | { id: string } | null | undefined,
): Promise<ThreadRecord | undefined> {
  const id = typeof named === 'string' ? named : named?.id
  return id === undefined ? undefined : conversations.find(caller, id)
}
