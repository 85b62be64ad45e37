import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { pythonPrograms } from '../../support/python-packages.ts'

const version = '4.32.5'

export interface Trial {
  /** What `schemathesis.toml` names. */
  variables: Record<string, string>
  /** Ids that exist, by the name of the parameter or member that takes them. */
  ids: Record<string, string[]>
  /** Cases for each operation in the phases that have no end of their own. */
  examples: string
  seed: string
  options?: string[]
}

export type Schemathesis = Awaited<ReturnType<typeof schemathesis>>

/** Schemathesis, with its files in `folder`. */
export async function schemathesis(folder: string) {
  const programs = await pythonPrograms('schemathesis', [`schemathesis==${version}`])
  return {
    /** Every check in every phase. `failures` is the report from the first failure on, empty when there is none. */
    async run(url: string, { variables, ids, examples, seed, options = [] }: Trial) {
      const config = path.join(folder, 'schemathesis.toml')
      const settings = await readFile(path.join(import.meta.dirname, 'schemathesis.toml'), 'utf8')
      await writeFile(config, `${settings}\n${dictionaries(ids)}`)
      await copyFile(path.join(import.meta.dirname, 'hooks.py'), path.join(folder, 'hooks.py'))
      const args = ['--config-file', config, 'run', `${url}/openapi.json`, '--url', url, '--no-color']
      // One worker: Python 3.11 counts the depth of its parser in all threads together, and fails when two parse at once.
      args.push('--max-examples', examples, '--seed', seed, '--workers', '1', ...options)
      const child = spawn(path.join(programs, 'st'), args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, ...variables },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      const [code] = await once(child, 'close')
      return { output, failures: code === 0 ? '' : `schemathesis ended with ${code}:\n${output.slice(-60_000)}` }
    },
  }
}

/** Most requests are for what exists; the others show how what is missing is answered. */
function dictionaries(ids: Trial['ids']): string {
  const names = Object.keys(ids)
  const values = names.map((name) => `${name} = { values = ${JSON.stringify(ids[name])} }`)
  const uses = names.flatMap((name) =>
    ['path', 'body'].map((place) => `"${place}.${name}" = { dictionary = "${name}", probability = 0.7 }`),
  )
  return ['[dictionaries]', ...values, '[parameters]', ...uses, ''].join('\n')
}
