import { readFileSync, statSync } from 'node:fs'
import { reasonOf } from '../../domain/reason-of.ts'

/** More than any certificate bundle needs. */
const maxFileBytes = 1024 * 1024

/**
 * The texts of an environment by name. An empty variable counts as not set; then `NAME_FILE` may name a file with the
 * value, as container engines provide secrets. `problem` gets one message for each file that cannot be used.
 */
export function createVariables(env: NodeJS.ProcessEnv, problem: (message: string) => void) {
  const files = new Map<string, string | undefined>()

  return (name: string): string | undefined => env[name]?.trim() || fromFile(`${name}_FILE`)

  function fromFile(variable: string): string | undefined {
    const path = env[variable]?.trim()
    if (!path) return undefined
    if (!files.has(variable)) files.set(variable, contentOf(variable, path))
    return files.get(variable)
  }

  function contentOf(variable: string, path: string): string | undefined {
    try {
      const facts = statSync(path)
      if (!facts.isFile()) throw new Error('not a regular file')
      if (facts.size > maxFileBytes) throw new Error(`larger than ${maxFileBytes} bytes`)
      const value = readFileSync(path, 'utf8').trim()
      if (value === '') throw new Error('empty')
      return value
    } catch (error) {
      problem(`${variable} names a file that cannot be used: ${reasonOf(error)}`)
      return undefined
    }
  }
}
