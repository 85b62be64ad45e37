import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../domain/any-key.ts'
import { functionName } from '../../../domain/client-tools.ts'
import { maxCodeFiles, maxVectorStores } from '../../../domain/limits.ts'
import { Metadata } from '../../../domain/metadata.ts'
import { reasoningEfforts } from '../../../domain/reasoning-efforts.ts'
import { ResponseFormat } from '../../../domain/response-format.ts'
import type { V1Assistant } from '../../../services/v1/assistants.ts'
import { secondsOf } from '../public/compat-objects.ts'
import { sharedParameters } from '../public/model-parameters.ts'
import { listOf } from '../public/thread-schemas.ts'
import { nullable } from '../schemas.ts'
import { strict } from './v1-route.ts'
import { ChunkingInput, fileId, maxFiles } from './vector-store-schemas.ts'

/** Following the types of the `openai` package (resources/beta/assistants). */
const FileSearchSetting = strict(
  {
    max_num_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    ranking_options: Type.Optional(
      strict({
        ranker: Type.Optional(Type.String({ maxLength: 64, description: 'Has no effect: there is one.' })),
        score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      }),
    ),
  },
  {
    title: 'V1FileSearchSetting',
    about: 'How many passages a search gives the model, and how good they are at least.',
  },
)

export const V1Tool = strict(
  {
    type: Type.Enum(['function', 'file_search', 'code_interpreter'], {
      title: 'V1ToolType',
      about: 'Kind of a tool in the assistants API.',
    }),
    function: Type.Optional(
      strict({
        name: functionName,
        description: Type.Optional(Type.String({ maxLength: 100_000 })),
        parameters: Type.Optional(nullable(Type.Record(AnyKey, Type.Unknown(), { maxProperties: 1000 }))),
        strict: Type.Optional(nullable(Type.Boolean())),
      }),
    ),
    file_search: Type.Optional(FileSearchSetting),
  },
  { title: 'V1Tool', about: 'A tool in the shape of the assistants API.' },
)

const ids = Type.Array(Type.String({ maxLength: 128 }), { maxItems: maxCodeFiles })
const storeIds = Type.Array(Type.String({ maxLength: 128 }), { maxItems: maxVectorStores })
const codeFiles = Type.Optional(nullable(strict({ file_ids: Type.Optional(ids) })))
export const V1ToolResources = strict(
  {
    file_search: Type.Optional(nullable(strict({ vector_store_ids: Type.Optional(storeIds) }))),
    code_interpreter: codeFiles,
  },
  { title: 'V1ToolResources', about: 'What the tools of an assistant use.' },
)
const StoreOfAssistant = strict({
  file_ids: Type.Optional(Type.Array(fileId, { maxItems: maxFiles })),
  chunking_strategy: Type.Optional(ChunkingInput),
  metadata: Type.Optional(nullable(Metadata)),
})
export const NewToolResources = strict(
  {
    file_search: Type.Optional(
      nullable(
        strict({
          vector_store_ids: Type.Optional(storeIds),
          vector_stores: Type.Optional(
            Type.Array(StoreOfAssistant, {
              maxItems: 1,
              description:
                'A vector store that is made for the assistant or the thread. Not together with `vector_store_ids`.',
            }),
          ),
        }),
      ),
    ),
    code_interpreter: codeFiles,
  },
  { title: 'V1NewToolResources', about: 'What the tools of a new assistant use.' },
)

export type V1ToolResources = Static<typeof V1ToolResources>
export type NewToolResources = Static<typeof NewToolResources>

const model = Type.String({ minLength: 1, maxLength: 200 })
const members = {
  name: Type.Optional(nullable(Type.String({ maxLength: 256 }))),
  description: Type.Optional(nullable(Type.String({ maxLength: 512 }))),
  instructions: Type.Optional(nullable(Type.String({ maxLength: 256_000 }))),
  tools: Type.Optional(nullable(Type.Array(V1Tool, { maxItems: 128 }))),
  tool_resources: Type.Optional(nullable(V1ToolResources)),
  metadata: Type.Optional(nullable(Metadata)),
  temperature: sharedParameters.temperature,
  top_p: sharedParameters.top_p,
  response_format: Type.Optional(nullable(Type.Union([Type.Literal('auto'), ResponseFormat]))),
  reasoning_effort: Type.Optional(nullable(Type.Enum([...reasoningEfforts]))),
}
const description =
  '`code_interpreter` is the tool `code` of the native API, and functions are tools of the type `client`.'

export const V1AssistantCreateRequest = strict(
  { ...members, model, tool_resources: Type.Optional(nullable(NewToolResources)) },
  { title: 'V1AssistantCreateRequest', about: 'A new assistant.', description },
)
export const V1AssistantUpdateRequest = strict(
  { ...members, model: Type.Optional(model) },
  { title: 'V1AssistantUpdateRequest', about: 'The members of an assistant to change; null removes one.', description },
)
export type V1AssistantCreateRequest = Static<typeof V1AssistantCreateRequest>
export type V1AssistantUpdateRequest = Static<typeof V1AssistantUpdateRequest>

export const AssistantTools = Type.Array(
  Type.Object({
    type: Type.String(),
    function: Type.Optional(Type.Unknown()),
    file_search: Type.Optional(Type.Unknown()),
  }),
)

export const AssistantShape = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('assistant'),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    name: nullable(Type.String()),
    description: nullable(Type.String()),
    model: Type.String(),
    instructions: nullable(Type.String()),
    tools: AssistantTools,
    tool_resources: Type.Object({
      file_search: Type.Optional(Type.Object({ vector_store_ids: Type.Array(Type.String()) })),
      code_interpreter: Type.Optional(Type.Object({ file_ids: Type.Array(Type.String()) })),
    }),
    metadata: Type.Record(AnyKey, Type.String()),
    temperature: nullable(Type.Number()),
    top_p: nullable(Type.Number()),
    response_format: Type.Union([Type.Literal('auto'), ResponseFormat]),
    reasoning_effort: Type.Optional(Type.String()),
  },
  { title: 'V1Assistant', about: 'An assistant in the shape of the assistants API.' },
)
export const V1AssistantList = listOf(AssistantShape, 'V1AssistantList', 'A page of assistants.')

/** As the interface shows what an assistant or a thread has for its tools. */
export function toResources({ vectorStores, codeFiles }: Pick<V1Assistant, 'vectorStores' | 'codeFiles'>) {
  return {
    ...(vectorStores.length === 0 ? {} : { file_search: { vector_store_ids: vectorStores } }),
    ...(codeFiles.length === 0 ? {} : { code_interpreter: { file_ids: codeFiles } }),
  }
}

export function toAssistant(assistant: V1Assistant): Static<typeof AssistantShape> {
  return {
    id: assistant.id,
    object: 'assistant',
    created_at: secondsOf(assistant.createdAt),
    name: assistant.name,
    description: assistant.description || null,
    model: assistant.model,
    instructions: assistant.instructions || null,
    tools: assistant.tools,
    tool_resources: toResources(assistant),
    metadata: assistant.metadata,
    temperature: assistant.temperature ?? null,
    top_p: assistant.topP ?? null,
    response_format: assistant.responseFormat ?? 'auto',
    ...(assistant.reasoningEffort === undefined ? {} : { reasoning_effort: assistant.reasoningEffort }),
  }
}
