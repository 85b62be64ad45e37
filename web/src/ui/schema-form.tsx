import '../styles/schema-form.css'
import { useState } from 'react'
import { digitsOf, numberOf } from '../lib/exact-numbers.ts'
import { type JsonObject, asList, asObject } from '../lib/json.ts'
import { choicesOf, defaultOf, fieldOf, labelOf, withoutNull } from '../lib/schema.ts'
import { texts } from '../texts/index.ts'
import { ChipsField } from './chips-field.tsx'
import { CheckField, SelectField, SwitchesField, TextArea, TextField } from './field.tsx'
import { JsonField } from './json-field.tsx'
import { PairsField } from './pairs-field.tsx'

const t = texts.form

interface SchemaFormProps {
  /** A JSON Schema of an object. A member that no other field fits is written as JSON. */
  schema: JsonObject
  value: JsonObject
  onValue: (value: JsonObject) => void
  /** Whether the schema is the service's own: then its patterns are checked. A foreign pattern could take for ever. */
  isOwn?: boolean
  depth?: number
}

/** A form for a JSON Schema, in the words of its titles. */
export function SchemaForm({ schema, value, onValue, isOwn = false, depth = 0 }: SchemaFormProps) {
  const required = asList(schema['required'])
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...others } = value
    onValue(next === undefined || next === '' ? others : { ...others, [name]: next })
  }
  return Object.entries(asObject(schema['properties'])).map(([name, member]) => (
    <SchemaField
      key={name}
      name={name}
      schema={withoutNull(asObject(member))}
      isRequired={required.includes(name)}
      value={value[name]}
      isOwn={isOwn}
      depth={depth}
      onValue={(next) => set(name, next)}
    />
  ))
}

interface SchemaFieldProps {
  name: string
  schema: JsonObject
  isRequired: boolean
  value: unknown
  isOwn: boolean
  depth: number
  onValue: (value: unknown) => void
}

function SchemaField({ name, schema, isRequired, value, isOwn, depth, onValue }: SchemaFieldProps) {
  const label = `${labelOf(name, schema)}${isRequired ? '' : ` (${texts.optional})`}`
  const description = typeof schema['description'] === 'string' ? schema['description'] : ''
  const shared = { label, help: description, required: isRequired }
  switch (fieldOf(schema, depth)) {
    case 'choice':
      return (
        <SelectField
          {...shared}
          value={JSON.stringify(value) ?? ''}
          onValue={(json) => onValue(choicesOf(schema).find((choice) => JSON.stringify(choice) === json))}
        >
          <option value="">{wordsOf(schema, '') ?? t.noChoice}</option>
          {choicesOf(schema).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {wordsOf(schema, String(choice)) ?? choice}
            </option>
          ))}
        </SelectField>
      )
    case 'boolean':
      return <CheckField {...shared} checked={(value ?? defaultOf(schema)) === true} onValue={onValue} />
    case 'number':
      return (
        <TextField
          {...shared}
          type="number"
          step={schema['type'] === 'integer' ? 1 : 'any'}
          value={digitsOf(value)}
          onValue={(text) => onValue(text === '' ? undefined : numberOf(text))}
        />
      )
    case 'switches':
      return (
        <SwitchesField
          {...shared}
          choices={choicesOf(asObject(schema['items'])).map(String)}
          value={value === undefined ? undefined : asList(value).map(String)}
          onValue={onValue}
        />
      )
    case 'texts':
      return (
        <ChipsField
          {...shared}
          pattern={isOwn ? patternOf(schema) : undefined}
          value={asList(value).map(String)}
          onValue={(chips) => onValue(chips.length === 0 ? undefined : chips)}
        />
      )
    case 'pairs':
      return (
        <PairsField
          {...shared}
          isSecret={schema['writeOnly'] === true}
          value={asObject(value)}
          onValue={(pairs) => onValue(Object.keys(pairs).length === 0 ? undefined : pairs)}
        />
      )
    case 'object':
      return (
        <fieldset className="group form">
          <legend className="field-label">{label}</legend>
          {description !== '' && <p className="field-help">{description}</p>}
          <SchemaForm
            schema={schema}
            value={asObject(value)}
            isOwn={isOwn}
            depth={depth + 1}
            onValue={(next) => onValue(Object.keys(next).length === 0 ? undefined : next)}
          />
        </fieldset>
      )
    case 'json':
      return <JsonField {...shared} schema={schema} value={value} onValue={onValue} />
    case 'text':
      return (
        <WritingField
          {...shared}
          type={schema['format'] === 'uri' ? 'url' : 'text'}
          value={typeof value === 'string' ? value : ''}
          onValue={onValue}
        />
      )
  }
}

/** What a value is called, where the console has words for it. */
function wordsOf(schema: JsonObject, choice: string): string | undefined {
  const words = asObject(schema['values'])[choice]
  return typeof words === 'string' ? words : undefined
}

function patternOf(schema: JsonObject): RegExp | undefined {
  const { pattern } = asObject(schema['items'])
  return typeof pattern === 'string' ? new RegExp(pattern) : undefined
}

interface WritingProps {
  label: string
  help: string
  required: boolean
  type: 'text' | 'url'
  value: string
  onValue: (value: string) => void
}

const longestLine = 80

/** One line, or several if the text that is there has them: one line would drop its line breaks. */
function WritingField({ type, value, ...shared }: WritingProps) {
  const [isLong] = useState(value.includes('\n') || (type === 'text' && value.length > longestLine))
  return isLong ? <TextArea {...shared} rows={6} value={value} /> : <TextField {...shared} type={type} value={value} />
}
