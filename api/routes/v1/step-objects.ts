import type { FastifyRequest } from 'fastify'
import Type, { type Static } from 'typebox'
import { type ToolMessage, resultsOfCalls } from '../../../domain/conversation.ts'
import { passagesIn } from '../../../domain/knowledge/citations.ts'
import type { Message } from '../../../domain/messages.ts'
import { codeToolName } from '../../../domain/responses/written-files.ts'
import { codeIn, outputsOfCode } from '../public/code-deltas.ts'
import { listedStepId, toolStepId } from '../public/run-steps.ts'
import { CompatRunStep, StepToolCall } from '../public/thread-schemas.ts'
import { CodeCall } from './code-objects.ts'

/** The texts of found passages are shown only when a request asks for them. */
const resultContent = 'step_details.tool_calls[*].file_search.results[*].content'
const includes = Type.Union([
  Type.Literal(resultContent),
  Type.Array(Type.Literal(resultContent), { maxItems: 1, minItems: 1 }),
])
export const IncludeQuery = Type.Object({ include: Type.Optional(includes), 'include[]': Type.Optional(includes) })

export function includesResults({ query }: FastifyRequest): boolean {
  return typeof query === 'object' && query !== null && ('include' in query || 'include[]' in query)
}

const FileSearchCall = Type.Object({
  id: Type.String(),
  type: Type.Literal('file_search'),
  file_search: Type.Object({
    results: Type.Optional(
      Type.Array(
        Type.Object({
          file_id: Type.String(),
          file_name: Type.String(),
          score: Type.Number(),
          content: Type.Optional(Type.Array(Type.Object({ type: Type.Literal('text'), text: Type.String() }))),
        }),
      ),
    ),
  }),
})

export const V1RunStep = Type.Object(
  {
    ...CompatRunStep.properties,
    step_details: Type.Union([
      Type.Object({
        type: Type.Literal('message_creation'),
        message_creation: Type.Object({ message_id: Type.String() }),
      }),
      Type.Object({
        type: Type.Literal('tool_calls'),
        tool_calls: Type.Array(Type.Union([StepToolCall, FileSearchCall, CodeCall])),
      }),
    ]),
  },
  { title: 'V1RunStep', about: 'A step of a run in the shape of the assistants API.' },
)
type V1RunStep = Static<typeof V1RunStep>

/** A step with searches of files, and executions of code, as such. `messages` are those of the run. */
export function toV1Step(
  step: CompatRunStep,
  { withResults, messages }: { withResults: boolean; messages: () => Message[] },
): V1RunStep {
  const { step_details: details } = step
  if (details.type !== 'tool_calls') return { ...step, step_details: details }
  return {
    ...step,
    step_details: {
      type: 'tool_calls',
      tool_calls: details.tool_calls.map((call, index) => {
        const { name, output } = call.function
        if (name === 'retrieval') return searchOf(call.id, output ?? '', withResults)
        return name === codeToolName ? codeOf(call, resultOf(step.id, index, messages())) : call
      }),
    },
  }
}

type StepCall = Static<typeof StepToolCall>

function codeOf(
  { id, function: { arguments: text } }: StepCall,
  result: ToolMessage | undefined,
): Static<typeof CodeCall> {
  return {
    id,
    type: 'code_interpreter',
    code_interpreter: { input: codeIn(text), outputs: outputsOfCode(result) },
  }
}

function resultOf(stepId: string, index: number, messages: Message[]): ToolMessage | undefined {
  const answer = messages.find(({ data }) => toolStepId(data.id) === listedStepId(stepId))
  return answer && resultsOfCalls(messages).get(answer.data.id)?.[index]
}

function searchOf(id: string, output: string, withResults: boolean): Static<typeof FileSearchCall> {
  const results = passagesIn(output)?.map(({ fileId, fileName, score, text }) => ({
    file_id: fileId,
    file_name: fileName,
    score,
    ...(withResults ? { content: [{ type: 'text' as const, text }] } : {}),
  }))
  return { id, type: 'file_search', file_search: results === undefined ? {} : { results } }
}
