import type { AssistantRecord } from '../../../domain/records/assistant.ts'
import type { AssistantConfigs } from '../../assistants/configs.ts'
import { ownAssistantStore } from '../../assistants/store.ts'
import type { Collections } from '../../collections.ts'
import type { Askable } from '../../tools/assistant-tool.ts'

interface AskableDeps {
  collections: Pick<Collections, 'assistants'>
  assistantConfigs: Pick<AssistantConfigs, 'settingsOf'>
}

/** Those of the assistants with these ids that an assistant can ask: they are in its project, and not itself. */
export function createAskable({ collections, assistantConfigs }: AskableDeps) {
  return async (asking: AssistantRecord, ids: string[]): Promise<Askable[]> => {
    const others = ids.filter((id) => id !== asking._id)
    const found = await ownAssistantStore(collections).listAskable(asking, others)
    return others.flatMap((id) => {
      const assistant = found.find(({ _id }) => _id === id)
      if (assistant === undefined) return []
      return { id, name: assistant.name, description: assistantConfigs.settingsOf(assistant).description }
    })
  }
}
