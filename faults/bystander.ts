import { setTimeout as pause } from 'node:timers/promises'
import type { createActions } from './actions.ts'
import type { Caller } from './caller.ts'
import { digestOf, ownRecords } from './checker/digest.ts'
import type { ChunkText } from './checker/evidence.ts'
import { chunkTexts } from './checker/files.ts'
import type { Stores } from './checker/stores.ts'
import { documents } from './documents.ts'
import { type SimulatedUser, createSimulatedUser } from './load.ts'

/**
 * Creates, before the first fault, a user with an assistant, all documents and a conversation. No client uses this
 * data, so it must be unchanged afterwards. Its chunks are the reference for an undisturbed ingestion.
 */
export async function prepareBystander(
  { actions, caller }: { actions: ReturnType<typeof createActions>; caller: Caller },
  stores: Stores,
) {
  const simulated: SimulatedUser = await createSimulatedUser(actions)
  const { user, assistant, threads } = simulated
  const undisturbed = new Map<string, ChunkText[]>()
  for (const document of documents) {
    const file = await actions.upload(user, assistant, document)
    if (file === undefined) throw new Error(`${document.name} was not processed although nothing disturbed it`)
    const chunks = await stores.db.collection('chunks').find({ file_id: file }).toArray()
    undisturbed.set(document.name, chunkTexts(chunks))
  }
  for (const threadId of threads) await actions.streamedRun(user, { threadId, assistant, tools: true })
  await caller.call('GET', '/threads/', { token: user.token })
  while ((await stores.busyWorkflows()).length > 0) await pause(100)
  const ids = [user.id, user.projectId, assistant.id, ...threads]
  return {
    user,
    assistant,
    undisturbed,
    records: (now = stores) => ownRecords(now, ids),
    digest: (now = stores) => digestOf(now, { ids, assistantIds: [assistant.id] }),
  }
}
