import { createHash } from 'node:crypto'
import Type, { type Static } from 'typebox'
import { AnyKey } from './any-key.ts'
import { invalidInput } from './errors.ts'
import { checkFreeForm } from './foreign-json.ts'
import { foreignSchemaBytes } from './foreign-schema.ts'
import { parseOwnJson } from './json.ts'
import { requestLimits } from './limits.ts'

/** Functions of the client of a run, which tools a model must call, and the names of tools. */

/** As many as the chat-completions API allows. */
export const maxClientFunctions = 128
/** Bytes of all functions of a run: they are sent with every question to the model. */
const maxFunctionsBytes = 512 * 1024

/** A name that models accept for a function. */
export const functionName = Type.String({ pattern: '^[a-zA-Z0-9_-]{1,64}$', maxLength: 64 })
const described = {
  description: Type.Optional(Type.Union([Type.String({ maxLength: requestLimits.textLength }), Type.Null()])),
  parameters: Type.Optional(
    Type.Union([Type.Record(AnyKey, Type.Unknown()), Type.Null()], {
      description: 'JSON Schema of the arguments that the model passes.',
    }),
  ),
  strict: Type.Optional(
    Type.Union([Type.Boolean(), Type.Null()], { description: 'Whether the model must keep to the schema.' }),
  ),
}

/** A function that the client of a run executes. */
export const ClientFunction = Type.Object(
  { name: functionName, ...described },
  { title: 'ClientFunction', about: 'A function that the client of a run executes.' },
)
export type ClientFunction = Static<typeof ClientFunction>

/** The `config` of an assistant's tool of type `client`. Without a name in it, that of the tool counts. */
export const ClientToolConfig = Type.Object({ name: Type.Optional(functionName), ...described })

const NamedFunction = Type.Object(
  { type: Type.Literal('function'), function: Type.Object({ name: functionName }) },
  { title: 'NamedFunction', about: 'One function, by its name.' },
)
const modes = ['none', 'auto', 'required'] as const

/** Which tools the model may or must call, as in the chat-completions API; `retrieval` is the assistant's search. */
export const ToolChoice = Type.Union(
  [
    Type.Enum([...modes], { title: 'ToolChoiceMode', about: 'Whether the model may or must call a tool.' }),
    NamedFunction,
    Type.Object(
      { type: Type.Literal('retrieval') },
      { title: 'RetrievalChoice', about: 'The search of the assistant.' },
    ),
    Type.Object(
      {
        type: Type.Literal('allowed_tools'),
        allowed_tools: Type.Object({
          mode: Type.Enum(['auto', 'required'], {
            title: 'AllowedToolsMode',
            about: 'Whether the model may or must call one of these tools.',
          }),
          tools: Type.Array(NamedFunction, { minItems: 1, maxItems: maxClientFunctions }),
        }),
      },
      { title: 'AllowedTools', about: 'Some of the tools.' },
    ),
  ],
  { title: 'ToolChoice', about: 'Which tools the model may or must call.' },
)
export type ToolChoice = Static<typeof ToolChoice>

/** Tools of a run as its caller knows them; the names of those of an MCP server follow when it has listed them. */
export type ToolReference =
  | { name: string }
  | { type: 'retrieval' | 'web_search' | 'code' }
  | { server: string; name?: string }
/** As a run stores it. With `of_run` the model is offered no other tools. */
export type RunToolChoice =
  | ToolChoice
  | { type: 'code' }
  | { type: 'of_run'; mode: 'auto' | 'required'; tools: ToolReference[] }
/** With the name of the search in place of `retrieval`. */
export type ModelToolChoice = Exclude<ToolChoice, { type: 'retrieval' }>

/** Functions as the text that a run stores. Throws `invalid_input` for repeated names and for too much. */
export function clientFunctionsText(functions: ClientFunction[], loc: (string | number)[]): string {
  const names = new Set<string>()
  for (const [index, { name, parameters }] of functions.entries()) {
    if (names.has(name)) throw invalidInput([...loc, index], `another function is called ${name}`)
    names.add(name)
    if (foreignSchemaBytes(parameters ?? {}) === undefined)
      throw invalidInput([...loc, index, 'parameters'], 'is larger than 64 KiB or nests deeper than 50 levels')
  }
  const text = checkFreeForm(loc.map(String), functions)
  if (Buffer.byteLength(text) > maxFunctionsBytes)
    throw invalidInput(loc, `is larger than ${maxFunctionsBytes} bytes`, 'too_large')
  return text
}

export function readClientFunctions(text: string | undefined): ClientFunction[] {
  return text === undefined ? [] : parseOwnJson<ClientFunction[]>(text)
}

export const maxToolNameLength = 64

/**
 * A name that models can call: letters, digits, `_` and `-`, at most 64. A name that is cut gets a hash at its end,
 * so that two long names stay distinct.
 */
export function toolName(wanted: string): string {
  const clean = wanted.replaceAll(/[^\w-]/g, '_') || 'tool'
  if (clean.length <= maxToolNameLength) return clean
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 8)
  return `${clean.slice(0, maxToolNameLength - 9)}_${hash}`
}
