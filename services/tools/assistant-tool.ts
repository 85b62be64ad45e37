import Type from 'typebox'
import { Value } from 'typebox/value'
import { cutText } from '../../domain/cut-text.ts'
import type { JsonSchema, Question, Tool } from '../tool.ts'

const questionLength = 20_000
const descriptionShown = 300
const labelShown = 200

const AssistantArguments = Type.Object(
  {
    assistant: Type.String({ minLength: 1, maxLength: 1000, description: 'Which assistant.' }),
    question: Type.String({
      minLength: 1,
      maxLength: questionLength,
      description: 'The whole question: the other assistant does not see this conversation.',
    }),
  },
  { additionalProperties: false },
)

export const assistantToolParameters: JsonSchema = { ...AssistantArguments }
export const assistantToolDescription =
  'Asks another assistant of the project, which answers with its own instructions, files and tools.'

/** An assistant that can be asked. */
export interface Askable {
  id: string
  name: string
  description: string
}

/**
 * The tool with which an assistant asks others. It only says which question goes to whom: a run of its own answers it
 * (`services/runs/asking`). The model sees the names as an enum. The arguments are checked without it, because an assistant
 * that was deleted in the meantime is refused in words.
 */
export function assistantTool(name: string, askable: Askable[]): Tool {
  const idOf = labelsOf(askable)
  const labels = [...idOf.keys()]
  const { assistant, ...properties } = AssistantArguments.properties
  return {
    type: 'assistant',
    name,
    description: `${assistantToolDescription} ${described(askable, idOf)}`,
    parameters: {
      ...AssistantArguments,
      properties: { assistant: { ...assistant, enum: labels }, ...properties },
    },
    checkedAgainst: assistantToolParameters,
    // A repeated call joins the run that the first has started.
    safeToRepeat: true,
    timeoutMs: 30_000,
    execute: () => Promise.reject(new Error('another assistant answers')),
    ask(args, { call }): Promise<Question> {
      const { assistant: wanted, question } = Value.Parse(AssistantArguments, args)
      const assistantId = idOf.get(wanted) ?? askable.find(({ id }) => id === wanted)?.id
      if (assistantId === undefined)
        return Promise.reject(
          new Error(
            `“${cutText(wanted, labelShown)}” cannot be asked: it is not among the assistants that may be asked, or it was deleted. Those that can be asked: ${labels.join(', ')}`,
          ),
        )
      if (call.threadId === undefined)
        return Promise.reject(new Error('an assistant can be asked only in a conversation'))
      return Promise.resolve({ assistantId, question })
    },
  }
}

/** What the model calls each assistant: its name, or its id if others have the same name. */
function labelsOf(askable: Askable[]): Map<string, string> {
  const shared = Map.groupBy(askable, ({ name }) => name)
  return new Map(
    askable.map(({ id, name }) => [name.trim() === '' || (shared.get(name)?.length ?? 0) > 1 ? id : name, id]),
  )
}

function described(askable: Askable[], idOf: ReadonlyMap<string, string>): string {
  const labelOf = new Map([...idOf].map(([label, id]) => [id, label]))
  const lines = askable.map(({ id, name, description }) => {
    const label = labelOf.get(id) ?? id
    const about = [label === name ? '' : name, cutText(description, descriptionShown)].filter((part) => part !== '')
    return about.length === 0 ? label : `${label}: ${about.join('. ')}`
  })
  return `Assistants that can be asked:\n${lines.map((line) => `- ${line}`).join('\n')}`
}
