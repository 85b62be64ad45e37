import Type, { type Static } from 'typebox'
import { AnyKey } from './any-key.ts'

const AnswerSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64 }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    schema: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  },
  { title: 'ResponseFormatJsonSchema' },
)

/** The format of a model's answer, as in the chat-completions API. */
export const ResponseFormat = Type.Object(
  {
    type: Type.Enum(['text', 'json_object', 'json_schema'], { title: 'ResponseFormatType' }),
    json_schema: Type.Optional(AnswerSchema),
  },
  { title: 'ResponseFormat' },
)
export type ResponseFormat = Static<typeof ResponseFormat>
