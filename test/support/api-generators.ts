import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { installInCache } from '../../local/services/cache.ts'
import { findOnPath, run } from '../../local/services/command.ts'

/** What client developers point at the API description, each with a version of its own: none is a dependency of the product. */
const npmPackages = ['openapi-typescript@7.13.0', '@redocly/cli@2.77.0', 'typescript@5.9.3']
const pythonPackages = ['openapi-python-client==0.29.1', 'ruff==0.17.6']
/** The first run installs them. */
export const installTimeoutMs = 300_000

export interface Generators {
  /** Each answers what the program printed, and throws when it fails. `folder` takes what is generated. */
  typescriptClient(document: string, folder: string): Promise<string>
  pythonClient(document: string, folder: string): Promise<string>
  /** Redocly's recommended rules, without the one on trailing slashes, which the interface has. */
  lint(document: string, folder: string): Promise<string>
}

export async function apiGenerators(): Promise<Generators> {
  const [node, python] = await Promise.all([installNpmPackages(), installPythonPackages()])
  const bin = (name: string) => path.join(node, 'node_modules', '.bin', name)
  const timeoutMs = 120_000
  return {
    async typescriptClient(document, folder) {
      const generated = path.join(folder, 'api.d.ts')
      // What has a default may be left out of a request.
      const options = ['--default-non-nullable', 'false']
      const printed = await run(bin('openapi-typescript'), [document, ...options, '--output', generated], { timeoutMs })
      return (
        printed + (await run(bin('tsc'), ['--noEmit', '--strict', '--skipLibCheck', 'false', generated], { timeoutMs }))
      )
    },
    async pythonClient(document, folder) {
      const target = path.join(folder, 'python')
      const env = { ...process.env, PATH: `${path.join(python, 'bin')}${path.delimiter}${process.env['PATH'] ?? ''}` }
      const generate = ['generate', '--path', document, '--output-path', target, '--fail-on-warning']
      const printed = await run(path.join(python, 'bin', 'openapi-python-client'), generate, { env, timeoutMs })
      await run(path.join(python, 'bin', 'python'), ['-m', 'compileall', '-q', target], { timeoutMs })
      return printed
    },
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

function installNpmPackages(): Promise<string> {
  return installInCache(folderName('api-generators-npm', npmPackages), console.log, async (target) => {
    console.log(`installing ${npmPackages.join(', ')}`)
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
    await run('npm', ['install', '--prefix', target, ...options, ...npmPackages])
  })
}

function installPythonPackages(): Promise<string> {
  return installInCache(folderName('api-generators-python', pythonPackages), console.log, async (target) => {
    const python = (await findOnPath('python3')) ?? (await findOnPath('python'))
    if (!python) throw new Error('no python3 on PATH')
    console.log(`installing ${pythonPackages.join(', ')}`)
    await run(python, ['-m', 'venv', target])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...pythonPackages]
    await run(path.join(target, 'bin', 'python'), pip)
  })
}

function folderName(name: string, packages: string[]): string {
  return [name, ...packages.map((entry) => entry.replaceAll(/[^\w.]+/g, '-'))].join('-')
}
