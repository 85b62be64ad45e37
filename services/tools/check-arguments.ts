import { type ArgumentCheck, type JsonSchema, argumentCheck } from '../../domain/tool-arguments.ts'
import type { Tool } from '../tool.ts'

/**
 * Like `ArgumentCheck`, for an untrusted schema. Also undefined for arguments that could not be checked: the server
 * checks them itself.
 */
export type CheckForeignArguments = (
  schema: JsonSchema,
  args: Record<string, unknown>,
  turn: { userId: string; signal: AbortSignal },
) => Promise<string | undefined>

const compiled = new WeakMap<JsonSchema, ArgumentCheck>()

/** What is wrong with the arguments of a call of a built-in tool, as a message for the model. */
export function checkArguments(
  { parameters: shown, checkedAgainst: parameters = shown }: Pick<Tool, 'parameters' | 'checkedAgainst'>,
  args: Record<string, unknown>,
) {
  const check = compiled.get(parameters) ?? argumentCheck(parameters)
  if (check === undefined) throw new Error('the schema of this tool cannot be used')
  compiled.set(parameters, check)
  return check(args)
}
