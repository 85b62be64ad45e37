import { readdirSync } from 'node:fs'

/**
 * What a model should know of the interpreter. Names of packages are what their folders of metadata begin with (PEP 427).
 */
export function describePython(folder: string | undefined): string {
  const found =
    folder === undefined ? [] : readdirSync(folder).map((name) => /^(.+?)-[^-]+\.dist-info$/.exec(name)?.[1])
  const names = found.filter((name) => name !== undefined).toSorted()
  const what = names.length === 0 ? 'the standard library only' : `the standard library and ${names.join(', ')}`
  return `Python 3.14 in WebAssembly, without network, with ${what}`
}
