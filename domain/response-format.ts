import Type, { type Static } from 'typebox'
import { AnyKey } from './any-key.ts'

const AnswerSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64 }),
    description: Type.Optional(Type.String({ maxLength: 10_000 })),
    schema: Type.Optional(Type.Record(AnyKey, Type.Unknown())),
    strict: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
  },
  { title: 'ResponseFormatJsonSchema', about: 'The JSON Schema that an answer follows.' },
)

/** The format of a model's answer, as in the chat-completions API. */
export const ResponseFormat = Type.Object(
  {
    type: Type.Enum(['text', 'json_object', 'json_schema'], {
      title: 'ResponseFormatType',
      about: 'Text, any JSON object, or JSON that follows a schema.',
    }),
    json_schema: Type.Optional(AnswerSchema),
  },
  {
    title: 'ResponseFormat',
    about: 'The form in which the model answers; `json_schema` belongs to the type of that name.',
  },
)
export type ResponseFormat = Static<typeof ResponseFormat>
