import type { ParseArgsConfig } from 'node:util'
import type { Service } from './service.ts'

export type Options = NonNullable<ParseArgsConfig['options']>
export type Values = Record<string, string | boolean | undefined>

/** One command. Help, completion and the reading of arguments come from this. */
export interface Command {
  /** The words that select it, such as `files push`. */
  name: string
  summary: string
  /** What follows the words in the usage line. */
  operands: string
  /** Options with what help says about each. */
  options: Record<string, Options[string] & { help: string; value?: string }>
  /** How many operands it takes. */
  takes: [least: number, most: number]
  run(given: {
    operands: string[]
    values: Values
    url: string | undefined
    open: () => Promise<Service>
  }): Promise<void>
}

export const textValue = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined

export const assistantOption = {
  assistant: { type: 'string', short: 'a', value: 'NAME', help: 'name or id; not needed when there is only one' },
} as const
export const jsonOption = { json: { type: 'boolean', help: 'print one JSON value' } } as const
