import type { Message } from '../../domain/messages.ts'
import type { ThreadRecord } from '../../domain/records/thread.ts'
import type { Collections } from '../collections.ts'
import { type Maker, createMakers } from '../makers.ts'

/** Who has said something in threads that a project sees, and who made them: for members only. */
export function createAuthors(collections: Pick<Collections, 'users'>) {
  const makers = createMakers(collections)

  return async (
    { user_id: userId, created_by: maker = userId }: ThreadRecord,
    messages: Message[],
  ): Promise<Maker[]> => {
    const ids = messages.flatMap(({ type, data }) => (type === 'HumanMessage' ? (data.author_id ?? []) : []))
    return [...(await makers([maker, ...ids])).values()]
  }
}
