import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { run } from '../../local/services/command.ts'
import { npmPackages } from './npm-packages.ts'
import { pythonCompiled, pythonPrograms } from './python-packages.ts'

/**
 * What client developers point at the API description, each with a version of its own: none is a dependency of the
 * product.
 */
const generators = ['openapi-typescript@7.13.0', '@redocly/cli@2.77.0', 'typescript@5.9.3']
const pythonPackages = ['openapi-python-client==0.29.1', 'ruff==0.17.6']
export interface Generators {
  /** Each answers what the program printed, and throws when it fails. `folder` takes what is generated. */
  /** With the generator's own settings, as `api.d.ts`; `uses` are files that use it, which have to compile too. */
  typescriptClient(document: string, folder: string, ...uses: string[]): Promise<string>
  pythonClient(document: string, folder: string): Promise<string>
  /** The modules alone, as the package `target`. */
  pythonModules(document: string, target: string): Promise<string>
  /** Redocly's recommended rules, without the one on trailing slashes, which the interface has. */
  lint(document: string, folder: string): Promise<string>
}

export async function apiGenerators(): Promise<Generators> {
  const [node, python] = await Promise.all([
    npmPackages('api-generators-npm', generators),
    pythonPrograms('api-generators-python', pythonPackages),
  ])
  const bin = (name: string) => path.join(node, 'node_modules', '.bin', name)
  const timeoutMs = 120_000
  const generatePython = (document: string, target: string, ...options: string[]) =>
    run(
      path.join(python, 'openapi-python-client'),
      ['generate', '--path', document, '--output-path', target, '--fail-on-warning', ...options],
      {
        env: { ...process.env, ...pythonCompiled, PATH: `${python}${path.delimiter}${process.env['PATH'] ?? ''}` },
        timeoutMs,
      },
    )
  return {
    async typescriptClient(document, folder, ...uses) {
      const generated = path.join(folder, 'api.d.ts')
      const printed = await run(bin('openapi-typescript'), [document, '--output', generated], { timeoutMs })
      return (
        printed +
        (await run(bin('tsc'), ['--noEmit', '--strict', '--skipLibCheck', 'false', generated, ...uses], { timeoutMs }))
      )
    },
    async pythonClient(document, folder) {
      const target = path.join(folder, 'python')
      const printed = await generatePython(document, target)
      await run(path.join(python, 'python'), ['-m', 'compileall', '-q', target], { timeoutMs })
      return printed
    },
    pythonModules: (document, target) => generatePython(document, target, '--meta', 'none', '--overwrite'),
    async lint(document, folder) {
      const config = path.join(folder, 'redocly.yaml')
      await mkdir(folder, { recursive: true })
      await writeFile(config, 'extends: [recommended]\nrules:\n  no-path-trailing-slash: off\n')
      return run(bin('redocly'), ['lint', document, '--config', config, '--format', 'summary'], {
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', CI: '1' },
        timeoutMs,
      })
    },
  }
}
