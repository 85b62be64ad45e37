import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../../domain/any-key.ts'
import { dataLength } from '../../../../domain/content-parts.ts'
import { requestLimits } from '../../../../domain/limits.ts'
import { nullable } from '../../schemas.ts'
import { strict } from '../v1-route.ts'
import { RequestTool } from './tool-schemas.ts'

/**
 * Input of the responses API, following the types of the `openai` package (resources/responses). Applications send back
 * the items that they were answered, with members of all kinds: those that say something are read.
 */

const word = Type.String({ maxLength: requestLimits.nameLength })
const text = Type.String({ maxLength: requestLimits.messageLength })

const Part = Type.Object(
  {
    type: Type.String({ maxLength: 64 }),
    text: Type.Optional(text),
    refusal: Type.Optional(text),
    image_url: Type.Optional(
      nullable(
        Type.String({
          maxLength: dataLength,
          description: 'Of an `input_image`: an http or https address, or a data URL with base64.',
        }),
      ),
    ),
    detail: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
    file_id: Type.Optional(nullable(word)),
    file_data: Type.Optional(
      nullable(Type.String({ maxLength: dataLength, description: 'Of an `input_file`: base64, or a data URL.' })),
    ),
    file_url: Type.Optional(nullable(Type.String({ maxLength: requestLimits.textLength }))),
    filename: Type.Optional(nullable(word)),
  },
  {
    title: 'V1InputPart',
    about: 'A part of a message.',
    description:
      '`input_text`, `output_text`, `refusal`, and of a message of the role `user` `input_image` and `input_file`.',
  },
)
export type Part = Static<typeof Part>

const parts = Type.Array(Part, { maxItems: requestLimits.messages })

/** What a command of a `shell_call` has printed, and how it ended. */
const ShellOutput = Type.Object(
  { stdout: text, stderr: text, outcome: Type.Record(AnyKey, Type.Unknown()) },
  { title: 'V1ShellOutput', about: 'What one command has printed.' },
)

/** A tool as an item `mcp_list_tools` of a response shows it. */
const ListedTool = strict(
  {
    name: word,
    description: Type.Optional(nullable(text)),
    input_schema: Type.Record(AnyKey, Type.Unknown()),
    annotations: Type.Optional(nullable(Type.Record(AnyKey, Type.Unknown()))),
  },
  { title: 'V1ListedTool', about: 'A tool of an MCP server, as a response has listed it.' },
)

export const InputItem = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          '`message` (the default), `function_call`, `custom_tool_call`, `local_shell_call`, `shell_call`, `apply_patch_call` and their outputs (`function_call_output`), `item_reference`, and what responses have answered: `file_search_call`, `web_search_call`, `code_interpreter_call`, `mcp_call`, `mcp_list_tools`, `mcp_approval_request` with its `mcp_approval_response`, `reasoning`, `compaction`.',
      }),
    ),
    id: Type.Optional(nullable(word)),
    role: Type.Optional(
      Type.Enum(['user', 'assistant', 'system', 'developer'], { title: 'V1InputRole', about: 'Who speaks.' }),
    ),
    content: Type.Optional(nullable(Type.Union([text, parts]))),
    call_id: Type.Optional(word),
    name: Type.Optional(word),
    server_label: Type.Optional(word),
    namespace: Type.Optional(word),
    status: Type.Optional(nullable(word)),
    encrypted_content: Type.Optional(nullable(text)),
    summary: Type.Optional(nullable(parts)),
    approval_request_id: Type.Optional(nullable(word)),
    approve: Type.Optional(Type.Boolean()),
    reason: Type.Optional(nullable(text)),
    arguments: Type.Optional(Type.Union([text, Type.Record(AnyKey, Type.Unknown())])),
    input: Type.Optional(text),
    action: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    operation: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    tools: Type.Optional(Type.Array(Type.Union([RequestTool, ListedTool]), { maxItems: 128 })),
    execution: Type.Optional(word),
    output: Type.Optional(
      nullable(Type.Union([text, parts, Type.Array(ShellOutput, { maxItems: requestLimits.messages })])),
    ),
    code: Type.Optional(nullable(text)),
    outputs: Type.Optional(
      nullable(Type.Array(Type.Record(AnyKey, Type.Unknown()), { maxItems: requestLimits.messages })),
    ),
    queries: Type.Optional(Type.Array(text, { maxItems: requestLimits.configEntries })),
    results: Type.Optional(
      nullable(Type.Array(Type.Record(AnyKey, Type.Unknown()), { maxItems: requestLimits.messages })),
    ),
  },
  { title: 'V1InputItem', about: 'An item of the input. Members that say nothing to a model are ignored.' },
)
export type InputItem = Static<typeof InputItem>

const InputItems = Type.Array(InputItem, { maxItems: requestLimits.messages })
export const Input = Type.Union([text, InputItems])
