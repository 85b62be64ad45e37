import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../../domain/any-key.ts'
import { functionName, maxClientFunctions } from '../../../../domain/client-tools.ts'
import { maxCodeFiles, maxVectorStores } from '../../../../domain/limits.ts'
import { requestLimits } from '../../../../domain/limits.ts'
import { nullable } from '../../schemas.ts'
import { MemoryLimit } from '../containers.ts'
import { strict } from '../v1-route.ts'

/** Tools of requests of the responses API, following the types of the `openai` package (resources/responses). */

const maybe = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema))
const anyObject = Type.Record(AnyKey, Type.Unknown())

const ToolFilter = strict(
  {
    tool_names: maybe(Type.Array(Type.String({ maxLength: 200 }), { maxItems: requestLimits.configEntries })),
    read_only: maybe(Type.Boolean({ description: 'Tools that say by their annotations that they change nothing.' })),
  },
  { title: 'V1McpToolFilter', about: 'Some tools of an MCP server.' },
)
export type ToolFilter = Static<typeof ToolFilter>

/** A function or a custom tool, by itself or of a namespace. */
const clientTool = {
  type: Type.String({ maxLength: 64 }),
  name: Type.Optional(functionName),
  description: maybe(Type.String({ maxLength: requestLimits.textLength })),
  parameters: maybe(anyObject),
  strict: maybe(Type.Boolean()),
  format: maybe(
    Type.Object(
      {
        type: Type.Enum(['text', 'grammar'], {
          title: 'V1CustomFormatType',
          about: 'What the text of a custom tool follows.',
        }),
        syntax: Type.Optional(
          Type.Enum(['lark', 'regex'], { title: 'V1GrammarSyntax', about: 'How a grammar is written.' }),
        ),
        definition: Type.Optional(Type.String({ maxLength: requestLimits.textLength })),
      },
      {
        title: 'V1CustomFormat',
        about: 'What the text of a custom tool must be.',
        description: 'Of a `custom` tool. The model is told a grammar in words.',
      },
    ),
  ),
}

const InnerTool = Type.Object(clientTool, { title: 'V1InnerTool', about: 'A tool of the client within a namespace.' })
/** A namespace can be in a namespace. */
const NamespaceTool = Type.Object(
  { ...clientTool, tools: maybe(Type.Array(InnerTool, { maxItems: maxClientFunctions })) },
  { title: 'V1NamespaceTool', about: 'A tool of a namespace, or a namespace in it.' },
)

/** All kinds of tools in one: `read-tools.ts` knows which members belong to which kind, and refuses others. */
export const RequestTool = Type.Object(
  {
    ...clientTool,
    type: Type.String({
      maxLength: 64,
      description:
        '`function`, `custom`, `namespace`, `local_shell`, `shell`, `apply_patch`, `file_search`, `web_search`, `web_search_preview`, `code_interpreter` or `mcp`.',
    }),
    tools: maybe(Type.Array(NamespaceTool, { maxItems: maxClientFunctions })),
    execution: maybe(
      Type.Enum(['client', 'server'], { title: 'V1ToolSearchExecution', about: 'Who searches for tools.' }),
    ),
    environment: maybe(
      Type.Object(
        { type: Type.String({ maxLength: 64 }) },
        { title: 'V1ShellEnvironment', about: 'Where the client executes commands.' },
      ),
    ),
    vector_store_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { minItems: 1, maxItems: maxVectorStores }),
    ),
    max_num_results: Type.Optional(Type.Integer({ minimum: 1, maximum: 50 })),
    ranking_options: Type.Optional(
      strict({
        ranker: Type.Optional(Type.String({ maxLength: 64, description: 'Has no effect: there is one.' })),
        score_threshold: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
      }),
    ),
    filters: maybe(anyObject),
    search_context_size: Type.Optional(
      Type.Enum(['low', 'medium', 'high'], {
        title: 'V1SearchContextSize',
        about: 'Has no effect.',
        description: 'Has no effect: results have one size.',
      }),
    ),
    external_web_access: Type.Optional(
      Type.Boolean({
        description: 'Has no effect: results come from the index of the search service, no page is opened.',
      }),
    ),
    container: maybe(
      Type.Union([
        Type.String({ minLength: 1, maxLength: 200 }),
        strict(
          {
            type: Type.Literal('auto'),
            file_ids: maybe(Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: maxCodeFiles })),
            memory_limit: maybe(MemoryLimit),
            network_policy: maybe(Type.Object({ type: Type.String({ maxLength: 64 }) })),
          },
          { title: 'V1AutoContainer', about: 'The session of the conversation, and files of the project for it.' },
        ),
      ]),
    ),
    server_label: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9_-]{1,40}$', maxLength: 40 })),
    server_url: Type.Optional(Type.String({ minLength: 1, maxLength: 2000 })),
    server_description: Type.Optional(Type.String({ maxLength: requestLimits.textLength })),
    authorization: Type.Optional(Type.String({ maxLength: 16_384 })),
    headers: maybe(Type.Record(AnyKey, Type.String({ maxLength: 16_384 }), { maxProperties: 50 })),
    allowed_tools: maybe(
      Type.Union([Type.Array(Type.String({ maxLength: 200 }), { maxItems: requestLimits.configEntries }), ToolFilter]),
    ),
    require_approval: maybe(
      Type.Union([
        Type.String({ maxLength: 16, description: '`always` (the default) or `never`.' }),
        strict({ always: maybe(ToolFilter), never: maybe(ToolFilter) }),
      ]),
    ),
  },
  { title: 'V1ResponseTool', about: 'A tool of the request; which members it has depends on its type.' },
)
export type RequestTool = Static<typeof RequestTool>
