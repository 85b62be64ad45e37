import { texts } from '../texts/index.ts'
import { labelOf } from './schema.ts'

const names: Readonly<Record<string, string>> = texts.chat.toolNames

/**
 * What people call the tool that a model calls: one of the service's own in their language, another by its name in words. A
 * second one of the same name has a number.
 */
export function toolTitle(name: string): string {
  const [, first = name, number] = /^(.+)_(\d+)$/.exec(name) ?? []
  if (Object.hasOwn(names, name)) return names[name] ?? name
  return number !== undefined && Object.hasOwn(names, first) ? `${names[first]} ${number}` : labelOf(name, {})
}
