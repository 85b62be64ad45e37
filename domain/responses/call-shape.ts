import Type, { type Static } from 'typebox'

const name = Type.String()

/**
 * Tools of a client that are no plain functions. The model is offered each as a function under a name of its own, because
 * that is what model servers understand; its calls are shown as the client knows them.
 */
export const CallShape = Type.Union(
  [
    Type.Object(
      { type: Type.Literal('function'), name, namespace: Type.String() },
      { title: 'FunctionCallShape', about: 'A call of a function in a namespace.' },
    ),
    Type.Object(
      { type: Type.Literal('custom'), name, namespace: Type.Optional(Type.String()) },
      { title: 'CustomCallShape', about: 'A call of a custom tool, which takes a text.' },
    ),
    Type.Object(
      {
        type: Type.Enum(['local_shell', 'shell', 'apply_patch', 'tool_search'], {
          title: 'BuiltInCallType',
          about: 'Which of these tools was called.',
        }),
      },
      { title: 'BuiltInCallShape', about: 'A call of a tool of the interface that the client executes.' },
    ),
  ],
  { title: 'CallShape', about: 'How a client has given a call, if not as that of a plain function.' },
)
export type CallShape = Static<typeof CallShape>

/** The types of the items that bring results of calls which a client has made. */
export const CallOutputType = Type.Enum(
  [
    'function_call_output',
    'custom_tool_call_output',
    'local_shell_call_output',
    'shell_call_output',
    'apply_patch_call_output',
    'tool_search_output',
  ],
  { title: 'ResponseCallOutputType', about: 'Which kind of call was answered.' },
)
export type CallOutputType = Static<typeof CallOutputType>
