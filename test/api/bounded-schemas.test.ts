import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type TestService, startService } from '../support/service.ts'

type Schema = Record<string, any>

/** Every string, array and object of all that callers send must say how large it may be. */
describe('the schemas of requests', () => {
  let service: TestService
  let document: any
  beforeAll(async () => {
    service = await startService({ worker: false })
    document = await (await fetch(`${service.url}/openapi.json`)).json()
  })
  afterAll(() => service.close())

  it('limit every string and every list', () => {
    const inputs = inputsOf(document)
    const seen: string[] = []
    const unbounded = inputs.flatMap(({ name, schema }) => findUnbounded(document, schema, name, seen))
    expect(unbounded).toEqual([])
    // A walk that sees nothing proves nothing.
    expect(inputs.length).toBeGreaterThan(120)
    expect(seen.filter((kind) => kind === 'string').length).toBeGreaterThan(200)
    expect(seen.filter((kind) => kind === 'array').length).toBeGreaterThan(10)
  })

  it('are checked completely: a removed limit is found', () => {
    const find = (schema: Schema) => findUnbounded({}, schema, 'body', [])
    expect(find({ type: 'string' })).toEqual(['body: string'])
    expect(find({ type: 'object', properties: { a: { type: 'array', items: {} } } })).toEqual([
      'body.a: array',
      'body.a[]: anything',
    ])
    expect(find({ anyOf: [{ type: 'null' }, { type: 'array', maxItems: 1, items: { type: 'string' } }] })).toEqual([
      'body[]: string',
    ])
    expect(find({ type: 'object', patternProperties: { '^.*$': { type: 'string', maxLength: 1 } } })).toEqual([
      'body: keys',
    ])
  })
})

function inputsOf(document: any): { name: string; schema: Schema }[] {
  return Object.entries<Schema>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Schema>(methods).flatMap(([method, operation]) => {
      // A preflight is answered without a look at its path.
      if (method === 'options') return []
      const where = `${method.toUpperCase()} ${path}`
      const parameters: Schema[] = operation['parameters'] ?? []
      // Multipart bodies are read as a stream and never held.
      const body: Schema | undefined = operation['requestBody']?.content['application/json']?.schema
      return [
        ...parameters.map(({ in: part, name, schema }) => ({ name: `${where} ${part}.${name}`, schema })),
        ...(body ? [{ name: `${where} body`, schema: body }] : []),
      ]
    }),
  )
}

/** Names of the places in a schema where a caller may send as much as they like. */
function findUnbounded(document: any, schema: Schema, place: string, seen: string[]): string[] {
  const inner = (part: Schema, where: string) => findUnbounded(document, part, where, seen)
  if (typeof schema['$ref'] === 'string') {
    return inner(document.components.schemas[schema['$ref'].split('/').at(-1) ?? ''], place)
  }
  const alternatives: Schema[] = [...(schema['anyOf'] ?? []), ...(schema['oneOf'] ?? []), ...(schema['allOf'] ?? [])]
  if (alternatives.length > 0) return alternatives.flatMap((part) => inner(part, place))
  if ('const' in schema || 'enum' in schema) return []
  seen.push(schema['type'])
  switch (schema['type']) {
    case 'string':
      return typeof schema['maxLength'] === 'number' ? [] : [`${place}: string`]
    case 'array':
      return [
        ...(typeof schema['maxItems'] === 'number' ? [] : [`${place}: array`]),
        ...inner(schema['items'] ?? {}, `${place}[]`),
      ]
    case 'object': {
      const named = Object.entries<Schema>(schema['properties'] ?? {}).flatMap(([name, part]) =>
        inner(part, `${place}.${name}`),
      )
      const records = Object.values<Schema>(schema['patternProperties'] ?? {})
      // Free-form objects are bounded as a whole: by the size of the body, then by their depth and text.
      const typed = records.filter((part) => Object.keys(part).length > 0)
      const keys = typed.length > 0 && typeof schema['maxProperties'] !== 'number' ? [`${place}: keys`] : []
      return [...named, ...keys, ...typed.flatMap((part) => inner(part, `${place}.*`))]
    }
    case 'integer':
    case 'number':
    case 'boolean':
    case 'null':
      return []
    default:
      // As a free-form object, if its description says what it is for.
      return typeof schema['description'] === 'string' ? [] : [`${place}: anything`]
  }
}
