import { useState } from 'react'
import { type JsonObject, asList, asObject } from '../../lib/json.ts'
import { texts } from '../../texts/index.ts'
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx'

const t = texts.tools

interface SchemaFormProps {
  /** A JSON Schema of an object. A member that no other field fits is written as JSON. */
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
  switch (kindOf(schema)) {
    case 'choice':
      return (
        <SelectField
          {...shared}
          value={JSON.stringify(value) ?? ''}
          onValue={(json) => onValue(json === '' ? undefined : JSON.parse(json))}
        >
          <option value="">{t.noChoice}</option>
          {asList(schema['enum']).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {String(choice)}
            </option>
          ))}
        </SelectField>
      )
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
    case 'texts':
      return (
        <LinesField
          {...shared}
          help={`${description} ${t.listHelp}`}
          value={asList(value).map(String)}
          onLines={(lines) => onValue(lines.length === 0 ? undefined : lines)}
        />
      )
    case 'map':
      return (
        <LinesField
          {...shared}
          help={`${description} ${t.mapHelp}`}
          value={Object.entries(asObject(value)).map(([key, text]) => `${key}: ${String(text)}`)}
          check={(lines) => (lines.every((line) => line.indexOf(':') > 0) ? undefined : t.invalidMap)}
          onLines={(lines) => onValue(lines.length === 0 ? undefined : Object.fromEntries(lines.map(pairOf)))}
        />
      )
    case 'json':
      return <JsonField {...shared} schema={schema} value={value} onValue={onValue} />
    case 'text':
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

type Kind = 'choice' | 'boolean' | 'number' | 'integer' | 'texts' | 'map' | 'text' | 'json'

/** Which field fits a member. */
function kindOf(schema: JsonObject): Kind {
  const isSimple = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  const choices = asList(schema['enum'])
  if (choices.length > 0 && choices.every(isSimple)) return 'choice'
  switch (schema['type']) {
    case 'boolean':
    case 'number':
    case 'integer':
      return schema['type']
    case 'string':
      return 'text'
    case 'array':
      return asObject(schema['items'])['type'] === 'string' ? 'texts' : 'json'
    case 'object': {
      const [values = schema['additionalProperties']] = Object.values(asObject(schema['patternProperties']))
      return schema['properties'] === undefined && asObject(values)['type'] === 'string' ? 'map' : 'json'
    }
    default:
      return 'json'
  }
}

interface JsonProps {
  label: string
  help: string
  required: boolean
  schema: JsonObject
  value: unknown
  onValue: (value: unknown) => void
}

/** Text that is not JSON is taken as it is where the schema allows a text. A form with other text is not sent. */
function JsonField({ schema, value, onValue, help, ...shared }: JsonProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)))
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
    return { value: JSON.parse(text) }
  } catch {
    return undefined
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
