import { type NativeKind, nativeKindOf } from '../../domain/provider-kinds.ts'
import type { ChatModel } from '../../services/runs/chat-model.ts'
import { type ChatModelOptions, createChatModel } from './chat.ts'

/** Asks each account in the interface that its provider speaks. The native ones are loaded when they are needed. */
export function createModelByKind(options: ChatModelOptions): ChatModel {
  const compatible = createChatModel(options)
  const natives = new Map<NativeKind, Promise<ChatModel>>()

  function native(kind: NativeKind): Promise<ChatModel> {
    const known = natives.get(kind)
    if (known !== undefined) return known
    const loaded = import('./native/native-model.ts').then(({ createNativeModel }) => createNativeModel(kind, options))
    natives.set(kind, loaded)
    return loaded
  }

  return {
    async *stream(request) {
      const kind = nativeKindOf(request.account.kind)
      yield* (kind === undefined ? compatible : await native(kind)).stream(request)
    },
  }
}
