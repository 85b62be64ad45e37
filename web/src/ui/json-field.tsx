import { useState } from 'react'
import { markNumbers, shownJson } from '../lib/exact-numbers.ts'
import { type JsonObject, asList, asObject } from '../lib/json.ts'
import { texts } from '../texts/index.ts'
import { TextArea } from './field.tsx'

const t = texts.form

interface JsonProps {
  label: string
  help: string
  required: boolean
  schema: JsonObject
  value: unknown
  onValue: (value: unknown) => void
}

/** Text that is not JSON is taken as it is where the schema allows a text. A form with other text is not sent. */
export function JsonField({ schema, value, onValue, help, ...shared }: JsonProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : shownJson(value)))
  const [error, setError] = useState<string>()
  const allowsText = asList(schema['anyOf'] ?? schema['oneOf']).some((part) => asObject(part)['type'] === 'string')
  const change = (next: string) => {
    setText(next)
    const read = readJson(next)
    setError(read === undefined && !allowsText ? t.invalidJson : undefined)
    onValue(next.trim() === '' ? undefined : read === undefined ? next : read.value)
  }
  return (
    <TextArea
      {...shared}
      help={`${help} ${allowsText ? t.jsonOrTextHelp : t.jsonHelp}`}
      error={error}
      mono
      rows={3}
      value={text}
      onValue={change}
      spellCheck={false}
    />
  )
}

function readJson(text: string): { value: unknown } | undefined {
  if (text.trim() === '') return { value: undefined }
  try {
    JSON.parse(text)
    return { value: JSON.parse(markNumbers(text)) }
  } catch {
    return undefined
  }
}
