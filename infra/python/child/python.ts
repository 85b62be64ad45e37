import fs from 'node:fs'
import { type PyodideAPI, loadPyodide } from 'pyodide'
import { dataFolder } from '../../../domain/session-path.ts'
import { outputLimits } from '../messages.ts'
import { fileSystemOf } from './file-system.ts'

/**
 * Python of Pyodide, with `/mnt/data` as its working directory. Its file system is memory: nothing of the host is
 * mounted. Code may still reach JavaScript: the process is what confines it (`../python-process.ts`).
 */
export async function startPython(packages: string | undefined) {
  allowStart()
  const printed = createOutput()
  const pyodide = await loadPyodide({ jsglobals: { __proto__: null }, env: { HOME: '/home/user', MPLBACKEND: 'agg' } })
  pyodide.setStdout({ write: printed.add })
  pyodide.setStderr({ write: printed.add })
  pyodide.setStdin({ stdin: () => null })
  const fileSystem = fileSystemOf(pyodide)
  fileSystem.mkdirTree(dataFolder)
  fileSystem.chdir(dataFolder)
  if (packages !== undefined) addPackages(pyodide, packages)
  const execute: unknown = await pyodide.runPythonAsync(runner)
  if (typeof execute !== 'function') throw new Error('the runner is not a function')

  return {
    fileSystem,
    /** Executes code in the session's namespace. */
    async run(code: string): Promise<{ output: string; error?: string }> {
      const error: unknown = await Reflect.apply(execute, undefined, [code, outputLimits.characters])
      return {
        output: printed.take(),
        ...(typeof error === 'string' ? { error: error.slice(-maxErrorCharacters) } : {}),
      }
    },
  }
}

const maxErrorCharacters = 16 * 1024

/** Emscripten asks Node for the constants of files in a way that the permission model refuses. */
function allowStart(): void {
  Object.defineProperty(process, 'binding', { value: () => ({ fs: fs.constants }) })
}

/** Python imports packages from the folder of the host when they are used; the process may only read it. */
function addPackages(pyodide: PyodideAPI, folder: string): void {
  pyodide.mountNodeFS('/packages', folder)
  pyodide.runPython(`import sys; sys.dont_write_bytecode = True; sys.path.append('/packages')`)
}

/** What was printed, up to the limit. */
function createOutput() {
  let pieces: Buffer[] = []
  let bytes = 0
  let dropped = 0
  return {
    add(piece: Uint8Array): number {
      const taken = Math.min(piece.length, outputLimits.characters - bytes)
      // The memory belongs to Python, which uses it again.
      if (taken > 0) pieces.push(Buffer.from(piece.subarray(0, taken)))
      bytes += Math.max(0, taken)
      dropped += piece.length - Math.max(0, taken)
      return piece.length
    },
    take(): string {
      const text = Buffer.concat(pieces).toString('utf8')
      const note = dropped > 0 ? `\n[${dropped} more bytes were printed and are left out.]` : ''
      pieces = []
      bytes = 0
      dropped = 0
      return text + note
    },
  }
}

/** Prints the value of the last expression, as a notebook does; returns the traceback of an error. */
const runner = `
import sys as _sys, traceback as _traceback
from pyodide.code import eval_code_async as _eval

_namespace = {'__name__': '__main__', '__builtins__': __builtins__}

async def _execute(code, limit):
    try:
        value = await _eval(code, globals=_namespace, filename='code')
        if value is not None:
            print(repr(value)[:limit])
    except SystemExit:
        pass
    except BaseException as error:
        found = error.__traceback__
        while found is not None and found.tb_frame.f_code.co_filename != 'code':
            found = found.tb_next
        return ''.join(_traceback.format_exception(type(error), error, found, limit=-20))
    finally:
        _sys.stdout.flush()
        _sys.stderr.flush()
    return None

_execute
`
