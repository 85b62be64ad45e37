import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import type { Services } from '../../../composition/platform.ts'
import { toolTypes } from '../../../domain/acting.ts'
import { checkFreeForm } from '../../../domain/foreign-json.ts'
import { mayUseToolType } from '../../../services/groups/allowances.ts'
import { personOf } from '../../../services/owner.ts'
import { callerOf, ownerOf, sessionOf } from '../../plugins/authentication.ts'
import { PathId, freeForm, refusals } from '../schemas.ts'

const ToolDescription = Type.Object(
  {
    type: Type.Enum([...toolTypes], { title: 'ToolType' }),
    name: Type.String(),
    description: Type.String(),
    parameters: freeForm('JSON Schema of the arguments that the model passes.'),
    config_schema: freeForm('JSON Schema of `config` in an entry of `type==agent/tools`.'),
    available: Type.Boolean({ description: 'Whether the settings of this service allow it.' }),
  },
  { title: 'ToolDescription', about: 'A tool that an assistant can be given.' },
)

const ToolTrialRequest = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 64, description: 'The name that the model calls.' }),
    args: Type.Optional(freeForm('The arguments, at most 1 MB as JSON; default: none.')),
  },
  { title: 'ToolTrialRequest', about: 'A call of a tool, to see what it answers.' },
)

const ToolTrial = Type.Object(
  {
    outcome: Type.Enum(['answered', 'failed', 'refused'], {
      title: 'ToolTrialOutcome',
      about: 'How the call of a tool ended.',
      description:
        "`failed`: the tool reported an error or gave no answer in time. `refused`: the arguments do not match the tool's schema; the call was not made.",
    }),
    content: Type.String({ description: 'The text that the model would read.' }),
    is_cut: Type.Boolean({ description: 'Whether the answer was longer; `content` ends with a note.' }),
    duration_ms: Type.Integer(),
  },
  { title: 'ToolTrial', about: 'What a tool answered to a call of the owner.' },
)

/** `GET /tools/`, and calls of a tool by the owner of its assistant. */
export const toolRoutes: FastifyPluginAsyncTypebox<
  Pick<Services, 'tools' | 'assistants' | 'tryTool' | 'allowances'>
> = async (app, { tools, assistants, tryTool, allowances }) => {
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
    async (request) => {
      const allowed = await allowances.of(sessionOf(request).user._id)
      return tools.catalogue().filter(({ type }) => type === 'retrieval' || mayUseToolType(allowed, type))
    },
  )

  app.post(
    '/assistants/:aid/tools/try',
    {
      config: { auth: 'project', limits: ['runs_user'], largeBody: 'object' },
      schema: {
        operationId: 'tools.try',
        summary: 'Call a tool of your assistant once, with the checks, limits and guards of a run',
        description:
          'The call is made: whatever the tool does takes effect. There is no run, nothing is recorded, and the call waits for no approval, because you write the arguments.',
        tags: ['tools'],
        params: Type.Object({ aid: PathId }),
        body: ToolTrialRequest,
        response: { 200: ToolTrial, ...refusals(401, 403, 404, 503) },
      },
    },
    async (request) => {
      const assistant = await assistants.readOwn(ownerOf(request), request.params.aid)
      const { name, args = {} } = request.body
      const text = checkFreeForm(['body', 'args'], args, { maxMegabytes: 1 })
      const trial = await tryTool(
        assistant,
        { name, argsJson: text, person: personOf(callerOf(request)), userId: callerOf(request).userId },
        request.signal,
      )
      return {
        outcome: trial.outcome,
        content: trial.content,
        is_cut: trial.isCut,
        duration_ms: trial.durationMs,
      }
    },
  )
}
