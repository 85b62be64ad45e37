import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type, { type TSchema } from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { AssistantConfig } from '../../../domain/assistant-config.ts'
import { Message } from '../../../domain/messages.ts'
import { ownerOf } from '../../plugins/authentication.ts'
import { PathId, freeForm, refusals } from '../schemas.ts'
import { Configurable, RunInput } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['runs']
const dialect = 'https://json-schema.org/draft/2020-12/schema'

const JsonSchemaView = freeForm('A JSON Schema (draft 2020-12).')

const AssistantDebugView = Type.Object(
  {
    assistant_id: Type.String(),
    name: Type.String(),
    config: freeForm('The configuration as you wrote it, with secrets masked.'),
    resolved: freeForm('The effective settings, with defaults and without secrets.'),
    model_account: Type.Enum(['platform', 'assistant', 'none'], {
      title: 'ModelAccount',
      about: 'Whose account pays for runs.',
      description: 'Whose account pays for runs.',
    }),
    tools: Type.Array(
      Type.Object({ type: Type.String(), name: Type.String(), description: Type.String(), parameters: JsonSchemaView }),
    ),
    tool_problems: Type.Array(Type.Object({ type: Type.String(), name: Type.String(), problem: Type.String() })),
    tool_warnings: Type.Array(Type.Object({ type: Type.String(), name: Type.String(), warning: Type.String() })),
  },
  {
    title: 'AssistantDebugView',
    about: 'What a run of the assistant would use: configuration, tools and model account.',
  },
)

/** Descriptions of the input, output and configuration of runs. */
export const describeRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'describeAssistant'>> = async (
  app,
  { assistants, describeAssistant },
) => {
  const schemas: Record<string, { summary: string; schema: TSchema }> = {
    input: { summary: 'JSON Schema of the input of a run', schema: RunInput },
    output: {
      summary: 'JSON Schema of the messages that a run adds to its thread',
      schema: Type.Object({ messages: Type.Array(Message) }),
    },
    config: {
      summary: 'JSON Schema of the settings of runs and assistants, with defaults',
      schema: Type.Object({ configurable: Configurable, assistant: AssistantConfig }),
    },
  }
  for (const [name, { summary, schema }] of Object.entries(schemas)) {
    app.get(
      `/runs/${name}_schema`,
      {
        config,
        schema: {
          operationId: `runs.${name}_schema`,
          summary,
          tags,
          response: { 200: JsonSchemaView, ...refusals(401, 403) },
        },
      },
      async () => ({ $schema: dialect, ...schema }),
    )
  }

  app.get(
    '/runs/debug/assistant/:assistant_id',
    {
      config,
      schema: {
        operationId: 'runs.debug_assistant',
        summary: 'The configuration of your assistant and what a run would use, with secrets masked',
        tags,
        params: Type.Object({ assistant_id: PathId }),
        response: { 200: AssistantDebugView, ...refusals(401, 403, 404) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.assistant_id)
      return describeAssistant(assistant, AbortSignal.timeout(15_000))
    },
  )
}
