import type { PyodideAPI } from 'pyodide'

/** What is used of Emscripten's file system (emscripten.org/docs/api_reference/Filesystem-API.html). */
export interface FileSystem {
  mkdirTree(path: string): void
  chdir(path: string): void
  readdir(path: string): string[]
  lstat(path: string): { mode: number; size: number }
  isFile(mode: number): boolean
  isDir(mode: number): boolean
  readFile(path: string): Uint8Array
  writeFile(path: string, bytes: Uint8Array): void
}

const methods = ['mkdirTree', 'chdir', 'readdir', 'lstat', 'isFile', 'isDir', 'readFile', 'writeFile']

/** Pyodide's types of it need global types of a browser, which this project does not have. */
export function fileSystemOf(pyodide: PyodideAPI): FileSystem {
  const found: unknown = Reflect.get(pyodide, 'FS')
  if (!isFileSystem(found)) throw new Error('Pyodide has another file system than expected')
  return found
}

function isFileSystem(found: unknown): found is FileSystem {
  return (
    typeof found === 'object' &&
    found !== null &&
    methods.every((name) => typeof Reflect.get(found, name) === 'function')
  )
}
