import Type, { type Static } from 'typebox'
import { AnyKey } from '../any-key.ts'
import { imageDetails } from '../content-parts.ts'
import { nullable } from '../nullable.ts'
import { CallOutputType } from './call-shape.ts'

/** Items of OpenAI's responses API, following the types of the `openai` package (resources/responses). */

const id = Type.String()

export const itemStatuses = ['in_progress', 'completed', 'incomplete'] as const
export type ItemStatus = (typeof itemStatuses)[number]
const status = Type.Enum([...itemStatuses], { title: 'ResponseItemStatus' })
const callStatus = Type.Enum(['in_progress', 'searching', 'completed', 'incomplete', 'failed'], {
  title: 'ResponseCallStatus',
})

export const FileCitation = Type.Object(
  {
    type: Type.Literal('file_citation'),
    file_id: id,
    filename: Type.String(),
    index: Type.Integer({ description: 'Where the citation begins in the text.' }),
  },
  { title: 'ResponseFileCitation' },
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
  { title: 'ResponseUrlCitation' },
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
  { title: 'ResponseContainerFileCitation' },
)
export type ContainerFileCitation = Static<typeof ContainerFileCitation>

const tokenProbability = { token: Type.String(), logprob: Type.Number(), bytes: Type.Array(Type.Integer()) }
const Logprob = Type.Object(
  { ...tokenProbability, top_logprobs: Type.Array(Type.Object(tokenProbability)) },
  { title: 'ResponseLogprob' },
)
export type Logprob = Static<typeof Logprob>

export const OutputText = Type.Object(
  {
    type: Type.Literal('output_text'),
    text: Type.String(),
    annotations: Type.Array(Type.Union([FileCitation, UrlCitation, ContainerFileCitation])),
    logprobs: Type.Array(Logprob, { description: 'If they were asked for.' }),
  },
  { title: 'ResponseOutputText' },
)
export type OutputText = Static<typeof OutputText>

export const OutputRefusal = Type.Object(
  { type: Type.Literal('refusal'), refusal: Type.String() },
  { title: 'ResponseOutputRefusal' },
)
export type OutputRefusal = Static<typeof OutputRefusal>

export const OutputMessage = Type.Object(
  {
    id,
    type: Type.Literal('message'),
    status,
    role: Type.Literal('assistant'),
    content: Type.Array(Type.Union([OutputText, OutputRefusal])),
  },
  { title: 'ResponseOutputMessage' },
)
export type OutputMessage = Static<typeof OutputMessage>

const InputPart = Type.Union(
  [
    Type.Object({ type: Type.Literal('input_text'), text: Type.String() }, { title: 'ResponseInputText' }),
    Type.Object(
      {
        type: Type.Literal('input_image'),
        detail: Type.Enum([...imageDetails], { title: 'ImageDetail' }),
        file_id: Type.Null(),
        image_url: Type.Null({ description: 'The bytes are kept, and not shown again.' }),
      },
      { title: 'ResponseInputImage' },
    ),
    Type.Object(
      { type: Type.Literal('input_file'), file_id: Type.Null(), filename: Type.String() },
      { title: 'ResponseInputFile' },
    ),
  ],
  { title: 'ResponseInputPart' },
)
export type InputPart = Static<typeof InputPart>

export const InputMessage = Type.Object(
  {
    id,
    type: Type.Literal('message'),
    status,
    role: Type.Enum(['user', 'system'], { title: 'ResponseInputRole' }),
    content: Type.Array(InputPart),
  },
  { title: 'ResponseInputMessage' },
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
  { title: 'ResponseFunctionCall' },
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
  { title: 'ResponseCustomToolCall' },
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
  { title: 'ResponseLocalShellCall' },
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
  { title: 'ResponseShellCall' },
)
export type ShellCall = Static<typeof ShellCall>

const ApplyPatchCall = Type.Object(
  {
    ...call,
    type: Type.Literal('apply_patch_call'),
    operation: Type.Object({ type: Type.String(), path: Type.String(), diff: Type.Optional(Type.String()) }),
  },
  { title: 'ResponseApplyPatchCall' },
)
export type ApplyPatchCall = Static<typeof ApplyPatchCall>

const ToolSearchCall = Type.Object(
  {
    ...call,
    type: Type.Literal('tool_search_call'),
    execution: Type.Literal('client'),
    arguments: Type.Record(AnyKey, Type.Unknown()),
  },
  { title: 'ResponseToolSearchCall' },
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
  { title: 'ResponseCallOutput' },
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
          { title: 'ResponseFileSearchResult' },
        ),
      ),
    ),
  },
  { title: 'ResponseFileSearchCall' },
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
  { title: 'ResponseWebSearchCall' },
)
export type WebSearchCall = Static<typeof WebSearchCall>

export const CodeInterpreterCall = Type.Object(
  {
    id,
    type: Type.Literal('code_interpreter_call'),
    status: Type.Enum(['in_progress', 'interpreting', 'completed', 'incomplete', 'failed'], {
      title: 'ResponseCodeCallStatus',
    }),
    code: nullable(Type.String()),
    container_id: Type.String(),
    outputs: nullable(
      Type.Array(
        Type.Union([
          Type.Object({ type: Type.Literal('logs'), logs: Type.String() }, { title: 'ResponseCodeLogs' }),
          Type.Object(
            {
              type: Type.Literal('image'),
              url: Type.String({ description: 'The content of a file of the container, for the same token.' }),
            },
            { title: 'ResponseCodeImage' },
          ),
        ]),
        { description: 'If they were asked for: `code_interpreter_call.outputs` in `include`.' },
      ),
    ),
  },
  { title: 'ResponseCodeInterpreterCall' },
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
  { title: 'ResponseMcpCall' },
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
  { title: 'ResponseMcpListTools' },
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
  { title: 'ResponseMcpApprovalRequest' },
)
export type McpApprovalRequest = Static<typeof McpApprovalRequest>

const McpApprovalResponse = Type.Object(
  { id, type: Type.Literal('mcp_approval_response'), approval_request_id: Type.String(), approve: Type.Boolean() },
  { title: 'ResponseMcpApprovalResponse' },
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
      Type.Object({ type: Type.Literal('summary_text'), text: Type.String() }, { title: 'ResponseReasoningSummary' }),
      { description: 'What the model thought, if the request asks for a summary; otherwise it is in `content`.' },
    ),
    content: Type.Optional(
      Type.Array(
        Type.Object({ type: Type.Literal('reasoning_text'), text: Type.String() }, { title: 'ResponseReasoningText' }),
      ),
    ),
    encrypted_content: Type.Optional(nullable(encrypted)),
  },
  { title: 'ResponseReasoning' },
)
export type Reasoning = Static<typeof Reasoning>

export const Compaction = Type.Object(
  { id, type: Type.Literal('compaction'), encrypted_content: encrypted },
  { title: 'ResponseCompaction' },
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
  { title: 'ResponseItem' },
)
export type ResponseItem = Static<typeof ResponseItem>
