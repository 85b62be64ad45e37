import { stripVTControlCharacters } from 'node:util'
import Type, { type Static } from 'typebox'
import Value from 'typebox/value'

const FileOutcome = Type.Object({
  file: Type.String(),
  /** The full names of the tests that passed. */
  passed: Type.Array(Type.String()),
  /** What failed in it; without a test it was the file as a whole. */
  failures: Type.Array(Type.Object({ test: Type.Optional(Type.String()), message: Type.String() })),
})

const OutcomeSchema = Type.Object({
  files: Type.Array(FileOutcome),
  /** What failed and belongs to no file. */
  outside: Type.Array(Type.String()),
})

export type FileOutcome = Static<typeof FileOutcome>
export type Failure = FileOutcome['failures'][number]

/** How a run of tests ended, file by file. `OutcomeReporter` writes it as JSON. */
export type Outcome = Static<typeof OutcomeSchema>

/** Reads what a run has left; a run that left nothing has failed. */
export function parseOutcome(json: string | undefined): Outcome {
  try {
    return Value.Parse(OutcomeSchema, JSON.parse(json ?? ''))
  } catch {
    return { files: [], outside: ['the run left no outcome'] }
  }
}

export function countsOf({ files, outside }: Outcome): { passed: number; failed: number } {
  return {
    passed: files.flatMap(({ passed }) => passed).length,
    failed: files.flatMap(({ failures }) => failures).length + outside.length,
  }
}

/** A line for each failure, so that a reader of the end of a long log sees what failed. */
export function failureLines({ files, outside }: Outcome): string[] {
  return [
    ...files.flatMap(({ file, failures }) => failures.map((failure) => failureLine('failed', file, failure))),
    ...outside.map((message) => oneLine(`failed: outside of tests: ${message}`)),
  ]
}

export function failureLine(what: 'failed' | 'unstable', file: string, { test, message }: Failure): string {
  return oneLine(`${what}: ${file}${test === undefined ? '' : ` › ${test}`}: ${message}`)
}

const oneLine = (text: string) => stripVTControlCharacters(text).replaceAll(/\s+/g, ' ').trim().slice(0, 600)

const mostLines = 20

/** The first of many lines, and how many are missing. */
export function firstOf(lines: readonly string[]): string[] {
  const rest = lines.length - mostLines
  return rest > 0 ? [...lines.slice(0, mostLines), `and ${rest} more`] : [...lines]
}
