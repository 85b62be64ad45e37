import { useState } from 'react'
import { markNumbers, shownJson } from '../lib/exact-numbers.ts'
import { type JsonObject, isObject } from '../lib/json.ts'
import { withUnknown } from '../lib/schema.ts'
import { texts } from '../texts/index.ts'
import { CheckField, TextArea } from './field.tsx'
import { SchemaForm } from './schema-form.tsx'

const t = texts.form

/** The arguments of a call while they are written, in a form or as JSON. */
export function useArguments(first: JsonObject) {
  const [args, setArgs] = useState(first)
  /** As JSON while they are written so. */
  const [json, setJson] = useState<string>()
  return {
    first,
    args,
    json,
    setArgs,
    setJson,
    /** Throws with words for people. */
    read: () => (json === undefined ? args : parseArguments(json)),
    /** Throws with words for people. */
    switchTo(asJson: boolean) {
      if (!asJson) setArgs(parseArguments(json ?? ''))
      setJson(asJson ? shownJson(args) : undefined)
    },
  }
}

/** Its numbers keep the digits with which they are written. Throws with words for people. */
function parseArguments(json: string): JsonObject {
  parseObject(json)
  return parseObject(markNumbers(json))
}

interface ArgumentsProps {
  /** JSON Schema of the arguments. */
  schema: JsonObject
  state: ReturnType<typeof useArguments>
  onProblem: (problem: string) => void
}

/** Fields for the arguments of a call. */
export function ArgumentsForm({ schema, state, onProblem }: ArgumentsProps) {
  const { args, json, setArgs, setJson } = state
  const switchTo = (asJson: boolean) => {
    try {
      state.switchTo(asJson)
    } catch {
      onProblem(t.notJson)
    }
  }
  return (
    <>
      {json === undefined ? (
        <SchemaForm schema={withUnknown(schema, { ...state.first, ...args })} value={args} onValue={setArgs} />
      ) : (
        <TextArea label={t.argumentsJson} mono rows={8} value={json} onValue={setJson} spellCheck={false} />
      )}
      <CheckField label={t.asJson} checked={json !== undefined} onValue={switchTo} />
    </>
  )
}

/** Throws with words for people if the text is not a JSON object. */
function parseObject(json: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    throw new Error(texts.form.notJson)
  }
  if (!isObject(value)) throw new Error(texts.form.notJson)
  return value
}
