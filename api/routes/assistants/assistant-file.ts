import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { foreignYaml } from '../../../domain/assistant-file/foreign-yaml.ts'
import { holderOf, ownerOf } from '../../plugins/authentication.ts'
import { PathId, refusals } from '../schemas.ts'
import { Assistant, toAssistant } from './schemas.ts'

const config = { auth: 'project' } as const
const tags = ['assistants']

const AssistantFile = Type.Object(
  { file: Type.String({ maxLength: foreignYaml.bytes, description: 'The assistant as YAML.' }) },
  {
    title: 'AssistantFile',
    about: 'An assistant as YAML text: settings, tools and the names of its sources, without secrets.',
  },
)

const AppliedAssistantFile = Type.Object(
  {
    outcome: Type.Enum(['created', 'changed', 'unchanged']),
    assistant: Assistant,
    missing_secrets: Type.Array(Type.String(), {
      description: 'Places of the file at which its writer left out a secret, and at which the assistant has none.',
    }),
    missing_files: Type.Array(Type.String(), {
      description: 'Names of the source files that the assistant does not have: upload them.',
    }),
  },
  { title: 'AppliedAssistantFile', about: 'What became of an assistant file, and what the assistant still lacks.' },
)

/** An assistant as YAML, and the assistant that such a text describes. */
export const assistantFileRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'assistants' | 'assistantFiles'>> = async (
  app,
  { assistants, assistantFiles },
) => {
  app.get(
    '/assistants/:aid/yaml',
    {
      config,
      schema: {
        operationId: 'assistants.yaml.read',
        summary: 'Your assistant as YAML, without secrets',
        tags,
        params: Type.Object({ aid: PathId }),
        response: { 200: AssistantFile, ...refusals(401, 403, 404) },
      },
    },
    async (request) => ({ file: await assistantFiles.write(ownerOf(request), request.params.aid) }),
  )

  app.post(
    '/assistants/apply',
    {
      config: { ...config, audit: 'successes', largeBody: 'object' },
      schema: {
        operationId: 'assistants.apply',
        summary: 'Create the assistant that a YAML file describes, or change the one of its name',
        tags,
        body: AssistantFile,
        response: { 200: AppliedAssistantFile, ...refusals(401, 403, 409) },
      },
    },
    async (request) => {
      const caller = holderOf(request)
      const { assistant, outcome, ...missing } = await assistantFiles.apply(caller, request.body.file)
      return {
        outcome,
        assistant: toAssistant(assistant, assistants.toConfig(assistant, caller.userId)),
        missing_secrets: missing.missingSecrets,
        missing_files: missing.missingFiles.map(({ name }) => name),
      }
    },
  )
}
