import { useState } from 'react'
import { texts } from '../../texts/index.ts'
import { CheckField, TextArea, TextField } from '../../ui/field.tsx'

const t = texts.tools

type JsonObject = Record<string, unknown>

interface SchemaFormProps {
  /** A JSON Schema of an object: its texts, lists of texts, maps of texts, numbers and switches become fields. */
  schema: JsonObject
  value: JsonObject
  onValue: (value: JsonObject) => void
}

/** A form for a JSON Schema. */
export function SchemaForm({ schema, value, onValue }: SchemaFormProps) {
  const required = asList(schema['required'])
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...others } = value
    onValue(next === undefined || next === '' ? others : { ...others, [name]: next })
  }
  return Object.entries(asObject(schema['properties'])).map(([name, member]) => (
    <SchemaField
      key={name}
      name={name}
      schema={asObject(member)}
      isRequired={required.includes(name)}
      value={value[name]}
      onValue={(next) => set(name, next)}
    />
  ))
}

interface SchemaFieldProps {
  name: string
  schema: JsonObject
  isRequired: boolean
  value: unknown
  onValue: (value: unknown) => void
}

function SchemaField({ name, schema, isRequired, value, onValue }: SchemaFieldProps) {
  const label = `${name.replaceAll('_', ' ')}${isRequired ? '' : ` (${texts.optional})`}`
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  const shared = { label, help: description, required: isRequired }
  switch (schema['type']) {
    case 'boolean':
      return <CheckField {...shared} checked={value === true} onValue={onValue} />
    case 'number':
    case 'integer':
      return (
        <TextField
          {...shared}
          type="number"
          value={typeof value === 'number' ? value : ''}
          onValue={(text) => onValue(text === '' ? undefined : Number(text))}
        />
      )
    case 'array':
      return (
        <LinesField
          {...shared}
          help={`${description} ${t.listHelp}`}
          value={asList(value).map(String)}
          onLines={(lines) => onValue(lines.length === 0 ? undefined : lines)}
        />
      )
    case 'object':
      return (
        <LinesField
          {...shared}
          help={`${description} ${t.mapHelp}`}
          value={Object.entries(asObject(value)).map(([key, text]) => `${key}: ${String(text)}`)}
          check={(lines) => (lines.every((line) => line.indexOf(':') > 0) ? undefined : t.invalidMap)}
          onLines={(lines) => onValue(lines.length === 0 ? undefined : Object.fromEntries(lines.map(pairOf)))}
        />
      )
    default:
      return (
        <TextField
          {...shared}
          type={schema['format'] === 'uri' ? 'url' : 'text'}
          value={typeof value === 'string' ? value : ''}
          onValue={onValue}
        />
      )
  }
}

interface LinesProps {
  label: string
  help: string
  value: string[]
  check?: (lines: string[]) => string | undefined
  onLines: (lines: string[]) => void
}

/** Keeps what is being typed while it is incomplete. */
export function LinesField({ label, help, value, check, onLines }: LinesProps) {
  const [text, setText] = useState(() => value.join('\n'))
  const [error, setError] = useState<string>()
  const change = (next: string) => {
    setText(next)
    const lines = next
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    const problem = check?.(lines)
    setError(problem)
    if (problem === undefined) onLines(lines)
  }
  return (
    <TextArea label={label} help={help} error={error} mono rows={3} value={text} onValue={change} spellCheck={false} />
  )
}

function pairOf(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()]
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {}
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
