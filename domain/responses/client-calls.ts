import type { ClientFunction } from '../client-tools.ts'
import { isJsonObject } from '../json.ts'
import type { ToolCall } from '../messages.ts'
import type { CallOutputType, CallShape } from './call-shape.ts'
import { callItemId } from './ids.ts'
import type {
  ApplyPatchCall,
  ClientCall,
  CustomToolCall,
  FunctionCall,
  ItemStatus,
  LocalShellCall,
  ShellCall,
  ToolSearchCall,
} from './items.ts'

/** By the name that the model is offered. */
export type CallShapes = ReadonlyMap<string, CallShape>

const text = (description: string) => ({ type: 'string', description })
const object = (properties: Record<string, object>, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** What a custom tool takes: one text, with a grammar in words, because functions cannot be held to one. */
export function customFunction(
  name: string,
  description: string | null | undefined,
  grammar: { syntax: string; definition: string } | undefined,
): ClientFunction {
  const rule = grammar && `The input must match this grammar (${grammar.syntax}):\n${grammar.definition}`
  return {
    name,
    description: [description ?? '', rule ?? ''].filter(Boolean).join('\n\n'),
    parameters: object({ input: text('The whole input of the tool, as text.') }, ['input']),
  }
}

export const shellFunctions: Record<'local_shell' | 'shell' | 'apply_patch', ClientFunction> = {
  local_shell: {
    name: 'local_shell',
    description: 'Runs a command on the machine of the user.',
    parameters: object(
      {
        command: { type: 'array', items: { type: 'string' }, description: 'The program and its arguments.' },
        working_directory: text('Where the command runs.'),
        timeout_ms: { type: 'integer', description: 'How long it may run.' },
        env: { type: 'object', additionalProperties: { type: 'string' }, description: 'Environment variables.' },
      },
      ['command'],
    ),
  },
  shell: {
    name: 'shell',
    description: 'Runs commands in a shell of the user.',
    parameters: object(
      {
        commands: { type: 'array', items: { type: 'string' }, description: 'Command lines, which may run at once.' },
        timeout_ms: { type: 'integer', description: 'How long each may run.' },
        max_output_length: { type: 'integer', description: 'Characters of output that are wanted of each.' },
      },
      ['commands'],
    ),
  },
  apply_patch: {
    name: 'apply_patch',
    description:
      'Creates, changes or deletes a file of the user. `diff` has the lines of a new file, each after "+", or the changes of a file: "@@" before each place, then its lines after " ", "-" or "+".',
    parameters: object(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text('The path of the file.'),
        diff: text('Not for delete_file.'),
      },
      ['type', 'path'],
    ),
  },
}

/** A call of one of the client's tools. */
export function clientCall(
  {
    messageId,
    index,
    call,
    status = 'completed',
  }: { messageId: string; index: number; call: ToolCall; status?: ItemStatus },
  shapes: CallShapes,
): ClientCall {
  const shape = call.shape ?? shapes.get(call.name)
  const shared = { status, call_id: call.id }
  const { args } = call
  switch (shape?.type) {
    case undefined:
    case 'function':
      return functionCall(messageId, index, call, shape, status)
    case 'custom':
      return {
        id: callItemId('ctc', messageId, index),
        type: 'custom_tool_call',
        ...shared,
        name: shape.name,
        input: typeof args['input'] === 'string' ? args['input'] : JSON.stringify(args),
        ...(shape.namespace === undefined ? {} : { namespace: shape.namespace }),
      } satisfies CustomToolCall
    case 'local_shell':
      return {
        id: callItemId('lsh', messageId, index),
        type: 'local_shell_call',
        ...shared,
        action: {
          type: 'exec',
          command: textsOf(args['command']),
          env: Object.fromEntries(
            Object.entries(isJsonObject(args['env']) ? args['env'] : {}).map(
              ([name, value]) => [name, textOf(value)] as const,
            ),
          ),
          timeout_ms: integerOf(args['timeout_ms']),
          user: null,
          working_directory: typeof args['working_directory'] === 'string' ? args['working_directory'] : null,
        },
      } satisfies LocalShellCall
    case 'shell':
      return {
        id: callItemId('shc', messageId, index),
        type: 'shell_call',
        ...shared,
        action: {
          commands: textsOf(args['commands']),
          timeout_ms: integerOf(args['timeout_ms']),
          max_output_length: integerOf(args['max_output_length']),
        },
        environment: { type: 'local' },
      } satisfies ShellCall
    case 'tool_search':
      return {
        id: callItemId('tsc', messageId, index),
        type: 'tool_search_call',
        ...shared,
        execution: 'client',
        arguments: args,
      } satisfies ToolSearchCall
    case 'apply_patch':
      return {
        id: callItemId('apc', messageId, index),
        type: 'apply_patch_call',
        ...shared,
        operation: {
          type: textOf(args['type'] ?? 'update_file'),
          path: textOf(args['path'] ?? ''),
          ...(args['type'] === 'delete_file' ? {} : { diff: textOf(args['diff'] ?? '') }),
        },
      } satisfies ApplyPatchCall
  }
}

export function functionCall(
  messageId: string,
  index: number,
  call: ToolCall,
  shape?: Extract<CallShape, { type: 'function' }>,
  status: ItemStatus = 'completed',
): FunctionCall {
  return {
    id: callItemId('fc', messageId, index),
    type: 'function_call',
    status,
    call_id: call.id,
    name: shape?.name ?? call.name,
    arguments: JSON.stringify(call.args),
    ...(shape === undefined ? {} : { namespace: shape.namespace }),
  }
}

/** The types of the items that bring the results of such calls. */
export function outputTypeOf(shape: CallShape | undefined): CallOutputType {
  switch (shape?.type) {
    case undefined:
    case 'function':
      return 'function_call_output'
    case 'custom':
      return 'custom_tool_call_output'
    case 'tool_search':
      return 'tool_search_output'
    case 'local_shell':
    case 'shell':
    case 'apply_patch':
      return `${shape.type}_call_output`
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
}

function integerOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) ? value : null
}

/** Models also send numbers and lists where a text belongs. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
