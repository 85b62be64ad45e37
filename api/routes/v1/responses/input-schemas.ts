import Type, { type Static } from 'typebox'
import { AnyKey } from '../../../../domain/any-key.ts'
import { requestLimits } from '../../../../domain/limits.ts'
import { nullable } from '../../schemas.ts'

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
  },
  { title: 'V1InputPart' },
)
export type Part = Static<typeof Part>

const parts = Type.Array(Part, { maxItems: requestLimits.messages })

export const InputItem = Type.Object(
  {
    type: Type.Optional(
      Type.String({
        maxLength: 64,
        description:
          '`message` (the default), `function_call`, `function_call_output`, `item_reference`, and what responses have answered: `file_search_call`, `web_search_call`, `mcp_call`, `mcp_list_tools`, `reasoning`.',
      }),
    ),
    id: Type.Optional(nullable(word)),
    role: Type.Optional(Type.Enum(['user', 'assistant', 'system', 'developer'], { title: 'V1InputRole' })),
    content: Type.Optional(nullable(Type.Union([text, parts]))),
    call_id: Type.Optional(word),
    name: Type.Optional(word),
    server_label: Type.Optional(word),
    arguments: Type.Optional(text),
    output: Type.Optional(nullable(Type.Union([text, parts]))),
    queries: Type.Optional(Type.Array(text, { maxItems: requestLimits.configEntries })),
    results: Type.Optional(
      nullable(Type.Array(Type.Record(AnyKey, Type.Unknown()), { maxItems: requestLimits.messages })),
    ),
  },
  { title: 'V1InputItem' },
)
export type InputItem = Static<typeof InputItem>

export const InputItems = Type.Array(InputItem, { maxItems: requestLimits.messages })
export const Input = Type.Union([text, InputItems])
