import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import Type, { type TObject } from 'typebox'
import { requestLimits } from '../../../domain/limits.ts'
import type { AssistantRecord } from '../../../domain/records/assistant.ts'

export const defaultPassages = 5

const text = (description: string) => Type.String({ description })

export const AskArguments = Type.Object(
  {
    question: Type.String({ description: 'What to ask.', minLength: 1, maxLength: requestLimits.textLength }),
    thread_id: Type.Optional(
      Type.String({
        description: 'Continues this conversation; its id is in an earlier answer. Without it, a new one begins.',
        minLength: 1,
        maxLength: requestLimits.foreignIdLength,
      }),
    ),
  },
  { additionalProperties: false },
)

export const SearchArguments = Type.Object(
  {
    query: Type.String({
      description: 'What to look for, in the words that the files may use.',
      minLength: 1,
      maxLength: 2000,
    }),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, description: `Default: ${defaultPassages}.` })),
  },
  { additionalProperties: false },
)

const AskResult = Type.Object({
  answer: text('The answer.'),
  thread_id: text('The conversation.'),
  run_id: text('The run that answered.'),
  citations: Type.Array(
    Type.Object({
      text: text('As it stands in the answer.'),
      file_id: text('The file.'),
      file_name: text('Its name.'),
      page: Type.Optional(Type.Integer({ description: 'From 1.' })),
    }),
    { description: 'The places of files that the answer names.' },
  ),
})

const SearchResult = Type.Object({
  passages: Type.Array(
    Type.Object({
      file_id: text('The file.'),
      file_name: text('Its name.'),
      url: Type.Optional(text('Of a page of the web: its address.')),
      page: Type.Optional(Type.Integer({ description: 'From 1.' })),
      heading: Type.Optional(Type.String()),
      text: text('The passage.'),
      score: Type.Number({ description: '0 to 1.' }),
    }),
  ),
})

/** TypeBox' schemas are JSON Schema; the protocol's own type only names fewer of its members. */
const schemaOf = (schema: TObject) => ({ ...schema, type: 'object' as const }) as unknown as Tool['inputSchema']

/** The tools of an assistant, with its own words about it. */
export function toolsOf({ name }: Pick<AssistantRecord, 'name'>, about: string): Tool[] {
  return [
    {
      name: 'ask',
      title: `Ask ${name}`,
      description: `Asks the assistant "${name}" and waits for its answer. ${about}`.trim(),
      inputSchema: schemaOf(AskArguments),
      outputSchema: schemaOf(AskResult),
      annotations: { title: `Ask ${name}`, openWorldHint: true },
    },
    {
      name: 'search',
      title: `Search the files of ${name}`,
      description: `The passages of the files of the assistant "${name}" that fit a query, best first.`,
      inputSchema: schemaOf(SearchArguments),
      outputSchema: schemaOf(SearchResult),
      annotations: { title: `Search the files of ${name}`, readOnlyHint: true, openWorldHint: false },
    },
  ]
}
