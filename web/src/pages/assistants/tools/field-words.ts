import { type JsonObject, asObject } from '../../../lib/json.ts'
import { assistantMessages } from '../../../texts/assistant.ts'

interface Words {
  title: string
  help?: string
  /** Of the values that it may have; under the empty one: of none. */
  values?: Readonly<Record<string, string>>
}

const known: Readonly<Record<string, Words>> = assistantMessages.tools.fields

/** The schema of a tool's settings with titles, descriptions and values in the reader's language, where there are words. */
export function inWords(path: string, schema: JsonObject): JsonObject {
  const members = Object.entries(asObject(schema['properties'])).map(([name, member]): [string, JsonObject] => {
    const own = `${path}.${name}`
    const { title, help: description, values } = known[own] ?? {}
    const said = { ...(title && { title }), ...(description && { description }), ...(values && { values }) }
    return [name, { ...inWords(own, asObject(member)), ...said }]
  })
  return members.length === 0 ? schema : { ...schema, properties: Object.fromEntries(members) }
}
