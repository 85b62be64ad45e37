import { readdirSync } from 'node:fs'
import { reasonOf } from '../../domain/reason-of.ts'

/**
 * What a model should know of the interpreter. Names of packages are what their folders of metadata begin with (PEP 427).
 */
export function describePython(folder: string | undefined): string {
  const found = entriesOf(folder).map((name) => /^(.+?)-[^-]+\.dist-info$/.exec(name)?.[1])
  const names = found.filter((name) => name !== undefined).toSorted()
  const what = names.length === 0 ? 'the standard library only' : `the standard library and ${names.join(', ')}`
  return `Python 3.14 in WebAssembly, without network, with ${what}`
}

function entriesOf(folder: string | undefined): string[] {
  if (folder === undefined) return []
  try {
    return readdirSync(folder)
  } catch (error) {
    throw new Error(`CODE_PACKAGES names a folder that cannot be read: ${reasonOf(error)}`, { cause: error })
  }
}
