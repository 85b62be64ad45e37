import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { toolTypes } from '../../../domain/assistant-config.ts'
import type { Services } from '../../../composition/platform.ts'
import { freeForm, refusals } from '../schemas.ts'

const ToolDescription = Type.Object(
  {
    type: Type.Enum([...toolTypes], { title: 'ToolType' }),
    name: Type.String(),
    description: Type.String(),
    parameters: freeForm('JSON Schema of the arguments that the model passes.'),
    config_schema: freeForm('JSON Schema of `config` in an entry of `type==agent/tools`.'),
    available: Type.Boolean({ description: 'Whether the settings of this service allow it.' }),
  },
  { title: 'ToolDescription' },
)

/** `GET /tools/` */
export const toolRoutes: FastifyPluginAsyncTypebox<Pick<Services, 'tools'>> = async (app, { tools }) => {
  app.get(
    '/tools/',
    {
      config: { auth: 'user' },
      schema: {
        operationId: 'tools.list',
        summary: 'The tools that an assistant can be given, each with its JSON Schema',
        tags: ['tools'],
        response: { 200: Type.Array(ToolDescription), ...refusals(401) },
      },
    },
    () => tools.catalogue(),
  )
}
