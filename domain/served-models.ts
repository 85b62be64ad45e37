import { isJsonObject } from './json.ts'

/** A model as its server lists it. */
export interface ServedModel {
  id: string
  /** Its context window, if the server names it. */
  contextTokens: number | undefined
}

/** Of a longer list only the beginning is read. */
export const servedModelsMax = 500
export const modelNameMax = 200
const windowMax = 100_000_000

/** Under which member servers name the context window: vLLM, LM Studio, OpenRouter and others. */
const windowMembers = [
  'inputTokenLimit',
  'max_input_tokens',
  'max_model_len',
  'loaded_context_length',
  'max_context_length',
  'context_length',
  'n_ctx',
]

/** Reads the answer to `GET /models`; undefined if it is no list of models. The server is not trusted. */
export function readServedModels(answer: unknown): ServedModel[] | undefined {
  const data: unknown = isJsonObject(answer)
    ? (answer['data'] ?? answer['models'] ?? answer['modelSummaries'])
    : undefined
  if (!Array.isArray(data)) return undefined
  const entries: unknown[] = data.slice(0, servedModelsMax)
  const models = entries.flatMap((entry) => {
    if (!isJsonObject(entry)) return []
    const id = idOf(entry)
    if (typeof id !== 'string' || id === '' || id.length > modelNameMax) return []
    return [{ id, contextTokens: windowOf(entry) ?? windowOf(entry['meta']) }]
  })
  return [...new Map(models.map((model) => [model.id, model])).values()]
}

/** `id`; Google says `name: "models/…"`, Bedrock `modelId`. */
function idOf({ id, name, modelId }: Record<string, unknown>): unknown {
  return id ?? modelId ?? (typeof name === 'string' ? name.replace(/^models\//, '') : undefined)
}

function windowOf(entry: unknown): number | undefined {
  if (!isJsonObject(entry)) return undefined
  for (const name of windowMembers) {
    const tokens = entry[name]
    if (typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 256 && tokens <= windowMax) return tokens
  }
  return undefined
}

/** Whether a model, judged by its name, writes answers: servers list models of other kinds beside them. */
export function seemsToChat(id: string): boolean {
  return !/embed|rerank|whisper|tts|dall-e|moderation|(^|[/:_-])(bge|gte|e5|minilm)([:_-]|$)/i.test(id)
}
