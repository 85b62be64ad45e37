import Type, { type Static } from 'typebox'
import { Value } from 'typebox/value'
import { parseForeignJson } from '../../domain/foreign-json.ts'

/** Requests to an interpreter, on its standard input, one JSON text per line. */
export type InterpreterJob = { put: { path: string; base64: string } } | { run: { code: string } }

/** What one execution may give back. The interpreter keeps to it, and the worker checks it. */
export const outputLimits = {
  /** Characters of what is printed. */
  characters: 64 * 1024,
  files: 16,
  fileBytes: 8 * 1024 * 1024,
  allBytes: 16 * 1024 * 1024,
  pathCharacters: 255,
  /** Reasons why files are left out. */
  leftOut: 20,
} as const

const InterpreterLine = Type.Union([
  Type.Object({ ready: Type.Literal(true) }),
  Type.Object({
    file: Type.Object({
      path: Type.String({ minLength: 1, maxLength: outputLimits.pathCharacters }),
      base64: Type.String({ maxLength: Math.ceil(outputLimits.fileBytes / 3) * 4 }),
    }),
  }),
  Type.Object({
    end: Type.Object({
      output: Type.String({ maxLength: outputLimits.characters + 200 }),
      error: Type.Optional(Type.String({ maxLength: outputLimits.characters })),
      leftOut: Type.Array(Type.String({ maxLength: 2 * outputLimits.pathCharacters }), {
        maxItems: outputLimits.leftOut,
      }),
    }),
  }),
])
/** Answers of an interpreter on its standard output; `end` is the last of an execution. */
export type InterpreterLine = Static<typeof InterpreterLine>

/** Longer than any valid line: each character of an output may take six in JSON. */
export const maxLineCharacters = Math.max(12 * outputLimits.characters, 2 * outputLimits.fileBytes)

/** Undefined for an invalid answer: code may have taken over the process. */
export function parseLine(text: string): InterpreterLine | undefined {
  try {
    const line = parseForeignJson(text, { bytes: Infinity, depth: 4, containers: 8, members: 100 })
    return Value.Check(InterpreterLine, line) ? line : undefined
  } catch {
    return undefined
  }
}
