import { type NativeKind, nativeKindOf } from '../../domain/provider-kinds.ts'
import type { ChatModel, ChatRequest, ModelDelta } from '../../services/runs/chat-model.ts'
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

  async function* nativeAnswer(kind: NativeKind, request: ChatRequest): AsyncGenerator<ModelDelta> {
    yield* (await native(kind)).stream(request)
  }

  return {
    // Not a generator of its own: each piece of an answer would pass it.
    stream(request) {
      const kind = nativeKindOf(request.account.kind)
      return kind === undefined ? compatible.stream(request) : nativeAnswer(kind, request)
    },
  }
}
