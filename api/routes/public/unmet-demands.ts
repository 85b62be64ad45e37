import { invalidInput } from '../../../domain/errors.ts'
import { isJsonObject } from '../../../domain/is-json-object.ts'

/** A member that is not supported, and without which the answer would be different. */
interface Demand {
  /** Whether a value differs from the default. Clients send defaults, which have no effect. */
  isMade(value: unknown): boolean
  why: string
}

const textOnly = 'answers are text'
const noClientTools = "a call of a client's tool cannot be demanded: the assistant calls tools of its own"
const noFiles = 'files of callers are not supported'

const chatDemands: Record<string, Demand> = {
  modalities: { isMade: (value) => JSON.stringify(value) !== '["text"]' && isFilled(value), why: textOnly },
  audio: { isMade: (value) => isFilled(value), why: textOnly },
  prediction: { isMade: (value) => isFilled(value), why: 'models are not told what to expect' },
  web_search_options: { isMade: () => true, why: "a search cannot be demanded: the assistant's tools are its owner's" },
  moderation: { isMade: (value) => isFilled(value), why: 'answers are not moderated here' },
}

const runDemands: Record<string, Demand> = {
  tool_choice: { isMade: demandsTool, why: noClientTools },
  max_prompt_tokens: { isMade: () => true, why: 'what a run reads cannot be limited by its caller' },
  truncation_strategy: {
    isMade: (value) => !isJsonObject(value) || value['type'] !== 'auto',
    why: 'the conversation is cut to the window of the model, and not otherwise',
  },
  tool_resources: { isMade: (value) => isFilled(value), why: noFiles },
}

const threadDemands: Record<string, Demand> = { tool_resources: { isMade: (value) => isFilled(value), why: noFiles } }
const messageDemands: Record<string, Demand> = { attachments: { isMade: (value) => isFilled(value), why: noFiles } }

type Loc = (string | number)[]

/**
 * Throws `invalid_input`, naming the member, for a request with an unsupported member that would change the answer.
 * Members without a noticeable effect are accepted, known or not.
 */
export const refuseUnmetChat = (body: object): void => refuse(body, chatDemands, ['body'])
export const refuseUnmetRun = (body: object): void => refuse(body, runDemands, ['body'])
export const refuseUnmetThread = (thread: object, loc: Loc): void => refuse(thread, threadDemands, loc)
export const refuseUnmetMessage = (message: object, loc: Loc): void => refuse(message, messageDemands, loc)

function refuse(body: object, demands: Record<string, Demand>, loc: Loc): void {
  for (const [member, { isMade, why }] of Object.entries(demands)) {
    const value: unknown = Object.hasOwn(body, member) ? Reflect.get(body, member) : undefined
    if (value === undefined || value === null) continue
    if (isMade(value)) throw invalidInput([...loc, member], why, 'unsupported')
  }
}

/** `auto`, `none`, and a choice among `allowed_tools` that leaves it to the model are accepted. */
function demandsTool(choice: unknown): boolean {
  if (!isJsonObject(choice)) return choice !== 'auto' && choice !== 'none'
  if (choice['type'] !== 'allowed_tools') return true
  const allowed = choice['allowed_tools']
  return !isJsonObject(allowed) || allowed['mode'] !== 'auto'
}

/**
 * Whether a value contains anything: `{code_interpreter: {file_ids: []}}` does not. A value that nests deeper than
 * any known member does.
 */
function isFilled(value: unknown, levels = 4): boolean {
  if (value === null) return false
  if (typeof value !== 'object' || levels === 0) return true
  return Object.values(value).some((member) => isFilled(member, levels - 1))
}
