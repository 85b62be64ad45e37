type Document = { components?: { schemas?: Record<string, unknown> } }

/**
 * Moves every schema that carries a `title` into `components.schemas` under that name and leaves a
 * `$ref`, so that readers and generators see named types. Two different schemas of one title are a
 * mistake and are refused.
 */
export function nameComponents<T extends object>(document: T): T {
  const components: Record<string, unknown> = {}
  const hoist = (value: unknown, key: string): unknown => {
    if (Array.isArray(value)) return value.map((entry) => hoist(entry, ''))
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hoist(entry, name)]))
    const title: unknown = copy['title']
    if (typeof title !== 'string' || key === 'info' || key === 'properties') return copy
    const known = components[title]
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy))
      throw new Error(`two schemas are called ${title}`)
    components[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }
  const paths = Object.fromEntries(
    Object.entries(document).map(([name, entry]) => [name, name === 'paths' ? hoist(entry, name) : entry]),
  )
  const existing = (document as Document).components
  return { ...document, ...paths, components: { ...existing, schemas: { ...existing?.schemas, ...components } } }
}
