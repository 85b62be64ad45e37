import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../../local/services/command.ts'
import { pythonCompiled, pythonPrograms } from './python-packages.ts'

/** The Python clients that the compat family is tested with. */
const packages = ['openai==3.51.0', 'langchain-openai==1.7.3']

/** The interpreter of a virtual environment that has them. */
export async function pythonWithClients(): Promise<string> {
  return path.join(await pythonPrograms('python-clients', packages), 'python')
}

/** Runs a Python script of the tests or the examples to its end and answers what it printed. */
export function runPython(python: string, script: string, env: Record<string, string>): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  return run(python, [path.join(root, script)], {
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      ...pythonCompiled,
      PYTHONWARNINGS: 'ignore',
      ...env,
    },
    timeoutMs: 150_000,
  })
}
