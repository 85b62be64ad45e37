import Type, { type Static } from 'typebox'
import { AnyKey } from '../any-key.ts'
import { imageDetails } from '../content-parts.ts'
import { nullable } from '../nullable.ts'
import { CallOutputType } from './call-shape.ts'

/** Items of OpenAI's responses API, following the types of the `openai` package (resources/responses). */

const id = Type.String()

const itemStatuses = ['in_progress', 'completed', 'incomplete'] as const
export type ItemStatus = (typeof itemStatuses)[number]
const status = Type.Enum([...itemStatuses], { title: 'ResponseItemStatus', about: 'Whether an item is whole.' })
const callStatus = Type.Enum(['in_progress', 'searching', 'completed', 'incomplete', 'failed'], {
  title: 'ResponseCallStatus',
  about: 'How far a call of a tool is.',
})

export const FileCitation = Type.Object(
  {
    type: Type.Literal('file_citation'),
    file_id: id,
    filename: Type.String(),
    index: Type.Integer({ description: 'Where the citation begins in the text.' }),
  },
  { title: 'ResponseFileCitation', about: 'A place of the answer that names a file.' },
)
export type FileCitation = Static<typeof FileCitation>

const UrlCitation = Type.Object(
  {
    type: Type.Literal('url_citation'),
    url: Type.String(),
    title: Type.String(),
    start_index: Type.Integer(),
    end_index: Type.Integer(),
  },
  { title: 'ResponseUrlCitation', about: 'The page of the web on which a part of a text rests.' },
)
export type UrlCitation = Static<typeof UrlCitation>

const ContainerFileCitation = Type.Object(
  {
    type: Type.Literal('container_file_citation'),
    container_id: id,
    file_id: id,
    filename: Type.String(),
    start_index: Type.Integer({ description: 'As `end_index` 0 for a file that the text does not name.' }),
    end_index: Type.Integer(),
  },
  { title: 'ResponseContainerFileCitation', about: 'A file that code has written, and where a text names it.' },
)
export type ContainerFileCitation = Static<typeof ContainerFileCitation>

const tokenProbability = { token: Type.String(), logprob: Type.Number(), bytes: Type.Array(Type.Integer()) }
const Logprob = Type.Object(
  { ...tokenProbability, top_logprobs: Type.Array(Type.Object(tokenProbability)) },
  { title: 'ResponseLogprob', about: 'How probable a token was to the model.' },
)
export type Logprob = Static<typeof Logprob>

export const OutputText = Type.Object(
  {
    type: Type.Literal('output_text'),
    text: Type.String(),
    annotations: Type.Array(Type.Union([FileCitation, UrlCitation, ContainerFileCitation])),
    logprobs: Type.Array(Logprob, { description: 'If they were asked for.' }),
  },
  { title: 'ResponseOutputText', about: 'The text of an answer.' },
)
export type OutputText = Static<typeof OutputText>

const OutputRefusal = Type.Object(
  { type: Type.Literal('refusal'), refusal: Type.String() },
  { title: 'ResponseOutputRefusal', about: 'What a model said instead of an answer.' },
)
type OutputRefusal = Static<typeof OutputRefusal>

export const OutputMessage = Type.Object(
  {
    id,
    type: Type.Literal('message'),
    status,
    role: Type.Literal('assistant'),
    content: Type.Array(Type.Union([OutputText, OutputRefusal])),
  },
  { title: 'ResponseOutputMessage', about: 'A message of the model.' },
)
export type OutputMessage = Static<typeof OutputMessage>

const InputPart = Type.Union(
  [
    Type.Object(
      { type: Type.Literal('input_text'), text: Type.String() },
      { title: 'ResponseInputText', about: 'The text of a message.' },
    ),
    Type.Object(
      {
        type: Type.Literal('input_image'),
        detail: Type.Enum([...imageDetails], { title: 'ImageDetail' }),
        file_id: Type.Null(),
        image_url: Type.Null({ description: 'The bytes are kept, and not shown again.' }),
      },
      { title: 'ResponseInputImage', about: 'An image in a message.' },
    ),
    Type.Object(
      { type: Type.Literal('input_file'), file_id: Type.Null(), filename: Type.String() },
      { title: 'ResponseInputFile', about: 'A file in a message.' },
    ),
  ],
  { title: 'ResponseInputPart', about: 'A part of a message of the client.' },
)
export type InputPart = Static<typeof InputPart>

export const InputMessage = Type.Object(
  {
    id,
    type: Type.Literal('message'),
    status,
    role: Type.Enum(['user', 'system'], {
      title: 'ResponseInputRole',
      about: 'Who speaks; a developer counts as the system.',
    }),
    content: Type.Array(InputPart),
  },
  { title: 'ResponseInputMessage', about: 'A message of the client.' },
)

export const FunctionCall = Type.Object(
  {
    id,
    type: Type.Literal('function_call'),
    status,
    call_id: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
    namespace: Type.Optional(Type.String()),
  },
  { title: 'ResponseFunctionCall', about: 'A call of a function, which the client executes.' },
)
export type FunctionCall = Static<typeof FunctionCall>

const call = { id, status, call_id: Type.String() }
const CustomToolCall = Type.Object(
  {
    ...call,
    type: Type.Literal('custom_tool_call'),
    name: Type.String(),
    input: Type.String(),
    namespace: Type.Optional(Type.String()),
  },
  { title: 'ResponseCustomToolCall', about: 'A call of a custom tool: the client executes it.' },
)
export type CustomToolCall = Static<typeof CustomToolCall>

const LocalShellCall = Type.Object(
  {
    ...call,
    type: Type.Literal('local_shell_call'),
    action: Type.Object({
      type: Type.Literal('exec'),
      command: Type.Array(Type.String()),
      env: Type.Record(AnyKey, Type.String()),
      timeout_ms: nullable(Type.Integer()),
      user: Type.Null(),
      working_directory: nullable(Type.String()),
    }),
  },
  { title: 'ResponseLocalShellCall', about: 'A command that the client executes on its machine.' },
)
export type LocalShellCall = Static<typeof LocalShellCall>

const ShellCall = Type.Object(
  {
    ...call,
    type: Type.Literal('shell_call'),
    action: Type.Object({
      commands: Type.Array(Type.String()),
      timeout_ms: nullable(Type.Integer()),
      max_output_length: nullable(Type.Integer()),
    }),
    environment: Type.Object({ type: Type.Literal('local') }),
  },
  { title: 'ResponseShellCall', about: 'Commands that the client executes.' },
)
export type ShellCall = Static<typeof ShellCall>

const ApplyPatchCall = Type.Object(
  {
    ...call,
    type: Type.Literal('apply_patch_call'),
    operation: Type.Object({ type: Type.String(), path: Type.String(), diff: Type.Optional(Type.String()) }),
  },
  { title: 'ResponseApplyPatchCall', about: 'A change of a file that the client makes.' },
)
export type ApplyPatchCall = Static<typeof ApplyPatchCall>

const ToolSearchCall = Type.Object(
  {
    ...call,
    type: Type.Literal('tool_search_call'),
    execution: Type.Literal('client'),
    arguments: Type.Record(AnyKey, Type.Unknown()),
  },
  { title: 'ResponseToolSearchCall', about: 'A search for tools: the client executes it.' },
)
export type ToolSearchCall = Static<typeof ToolSearchCall>

/** Calls that the client executes. */
export type ClientCall = FunctionCall | CustomToolCall | LocalShellCall | ShellCall | ApplyPatchCall | ToolSearchCall

const CallOutput = Type.Object(
  {
    ...call,
    type: CallOutputType,
    output: Type.Union([Type.String(), Type.Array(InputPart)]),
  },
  { title: 'ResponseCallOutput', about: 'What the client answered to one of its calls.' },
)

export const FileSearchCall = Type.Object(
  {
    id,
    type: Type.Literal('file_search_call'),
    status: callStatus,
    queries: Type.Array(Type.String()),
    results: nullable(
      Type.Array(
        Type.Object(
          {
            file_id: id,
            filename: Type.String(),
            text: Type.String(),
            score: Type.Optional(Type.Number()),
            attributes: Type.Optional(nullable(Type.Record(AnyKey, Type.Unknown()))),
          },
          { title: 'ResponseFileSearchResult', about: 'A passage that was found.' },
        ),
      ),
    ),
  },
  { title: 'ResponseFileSearchCall', about: 'A search in the files.' },
)
export type FileSearchCall = Static<typeof FileSearchCall>

export const WebSearchCall = Type.Object(
  {
    id,
    type: Type.Literal('web_search_call'),
    status: callStatus,
    action: Type.Object({
      type: Type.Literal('search'),
      query: Type.String(),
      queries: Type.Array(Type.String()),
      sources: Type.Optional(Type.Array(Type.Object({ type: Type.Literal('url'), url: Type.String() }))),
    }),
  },
  { title: 'ResponseWebSearchCall', about: 'A search in the web.' },
)
export type WebSearchCall = Static<typeof WebSearchCall>

export const CodeInterpreterCall = Type.Object(
  {
    id,
    type: Type.Literal('code_interpreter_call'),
    status: Type.Enum(['in_progress', 'interpreting', 'completed', 'incomplete', 'failed'], {
      title: 'ResponseCodeCallStatus',
      about: 'How far an execution is.',
    }),
    code: nullable(Type.String()),
    container_id: Type.String(),
    outputs: nullable(
      Type.Array(
        Type.Union([
          Type.Object(
            { type: Type.Literal('logs'), logs: Type.String() },
            { title: 'ResponseCodeLogs', about: 'What code has printed.' },
          ),
          Type.Object(
            {
              type: Type.Literal('image'),
              url: Type.String({ description: 'The content of a file of the container, for the same token.' }),
            },
            { title: 'ResponseCodeImage', about: 'An image that code has drawn.' },
          ),
        ]),
        { description: 'If they were asked for: `code_interpreter_call.outputs` in `include`.' },
      ),
    ),
  },
  { title: 'ResponseCodeInterpreterCall', about: 'Code that the service has executed.' },
)
export type CodeInterpreterCall = Static<typeof CodeInterpreterCall>

export const McpCall = Type.Object(
  {
    id,
    type: Type.Literal('mcp_call'),
    status,
    server_label: Type.String({
      description: 'The MCP server; `assistant` for other tools that the service executes.',
    }),
    name: Type.String(),
    arguments: Type.String(),
    output: nullable(Type.String()),
    error: Type.Null(),
    approval_request_id: nullable(Type.String({ description: 'The request that a person has allowed.' })),
  },
  {
    title: 'ResponseMcpCall',
    about: 'A call of a tool of an MCP server, or of another tool that the service executes.',
  },
)
export type McpCall = Static<typeof McpCall>

const clientCalls = [FunctionCall, CustomToolCall, LocalShellCall, ShellCall, ApplyPatchCall, ToolSearchCall] as const
const McpListTools = Type.Object(
  {
    id,
    type: Type.Literal('mcp_list_tools'),
    server_label: Type.String(),
    tools: Type.Array(
      Type.Object({
        name: Type.String(),
        description: Type.String(),
        input_schema: Type.Unknown(),
        annotations: nullable(Type.Record(AnyKey, Type.Unknown())),
      }),
    ),
    error: Type.Null(),
  },
  { title: 'ResponseMcpListTools', about: 'The tools that an MCP server offers.' },
)
export type McpListTools = Static<typeof McpListTools>

const McpApprovalRequest = Type.Object(
  {
    id,
    type: Type.Literal('mcp_approval_request'),
    server_label: Type.String(),
    name: Type.String(),
    arguments: Type.String(),
  },
  { title: 'ResponseMcpApprovalRequest', about: 'A call of a tool of an MCP server that waits for a person.' },
)
export type McpApprovalRequest = Static<typeof McpApprovalRequest>

const McpApprovalResponse = Type.Object(
  { id, type: Type.Literal('mcp_approval_response'), approval_request_id: Type.String(), approve: Type.Boolean() },
  { title: 'ResponseMcpApprovalResponse', about: 'What a person has decided about a call.' },
)
export type McpApprovalResponse = Static<typeof McpApprovalResponse>

const encrypted = Type.String({
  description: 'Sealed by this service: send it back unchanged. Nobody else can read it.',
})

const Reasoning = Type.Object(
  {
    id,
    type: Type.Literal('reasoning'),
    status,
    summary: Type.Array(
      Type.Object(
        { type: Type.Literal('summary_text'), text: Type.String() },
        { title: 'ResponseReasoningSummary', about: 'What the model thought.' },
      ),
      { description: 'What the model thought, if the request asks for a summary; otherwise it is in `content`.' },
    ),
    content: Type.Optional(
      Type.Array(
        Type.Object(
          { type: Type.Literal('reasoning_text'), text: Type.String() },
          { title: 'ResponseReasoningText', about: 'What the model thought.' },
        ),
      ),
    ),
    encrypted_content: Type.Optional(nullable(encrypted)),
  },
  { title: 'ResponseReasoning', about: 'What the model thought.' },
)
export type Reasoning = Static<typeof Reasoning>

export const Compaction = Type.Object(
  { id, type: Type.Literal('compaction'), encrypted_content: encrypted },
  { title: 'ResponseCompaction', about: 'A summary of what was said before, which only this service can read.' },
)
export type Compaction = Static<typeof Compaction>

export const OutputItem = Type.Union(
  [
    Compaction,
    McpListTools,
    Reasoning,
    OutputMessage,
    ...clientCalls,
    FileSearchCall,
    WebSearchCall,
    CodeInterpreterCall,
    McpCall,
    McpApprovalRequest,
  ],
  {
    title: 'ResponseOutputItem',
    about: 'What a response has added.',
  },
)
export type OutputItem = Static<typeof OutputItem>

/** An item of a conversation, or of a response's input. */
export const ResponseItem = Type.Union(
  [
    InputMessage,
    Compaction,
    Reasoning,
    OutputMessage,
    McpListTools,
    ...clientCalls,
    CallOutput,
    FileSearchCall,
    WebSearchCall,
    CodeInterpreterCall,
    McpCall,
    McpApprovalRequest,
    McpApprovalResponse,
  ],
  { title: 'ResponseItem', about: 'An item of a conversation.' },
)
export type ResponseItem = Static<typeof ResponseItem>
