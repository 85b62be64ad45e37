import { createHash } from 'node:crypto'

const maxLength = 64

/**
 * A name that models can call: letters, digits, `_` and `-`, at most 64. A name that is cut gets a hash at its end,
 * so that two long names stay distinct.
 */
export function toolName(wanted: string): string {
  const clean = wanted.replaceAll(/[^\w-]/g, '_') || 'tool'
  if (clean.length <= maxLength) return clean
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 8)
  return `${clean.slice(0, maxLength - 9)}_${hash}`
}

/** The same tools with distinct names: repeated names are numbered, `search`, `search_2`. */
export function withDistinctNames<T extends { name: string }>(tools: T[]): T[] {
  const taken = new Set<string>()
  return tools.map((tool) => {
    let name = tool.name
    for (let number = 2; taken.has(name); number++) name = toolName(`${tool.name.slice(0, maxLength - 4)}_${number}`)
    taken.add(name)
    return name === tool.name ? tool : { ...tool, name }
  })
}
