import type { Distribution } from '../infra/python/pyodide-wheels.ts'
import { prepareCodePackages } from './services/code-packages.ts'
import { reason } from './services/ways.ts'

/** Whether code is executed, and nothing names its packages. */
export function wantsCodePackages(env: NodeJS.ProcessEnv): boolean {
  return env['CODE_INTERPRETER'] !== 'off' && !env['CODE_PACKAGES']
}

/** The value of `CODE_PACKAGES`; empty if they cannot be had. Those of Pyodide's distribution may be missing alone. */
export async function codePackages(env: NodeJS.ProcessEnv, say: (line: string) => void): Promise<string> {
  const names = (env['CODE_PYODIDE_PACKAGES'] ?? '').split(',').map((name) => name.trim())
  const distribution = { names: names.filter(Boolean), url: env['CODE_PYODIDE_URL'] || undefined }
  const prepare = async (wanted: Distribution) => {
    const { value, source } = await prepareCodePackages((line) => say(`> ${line}`), wanted)
    say(`> Python packages for code: ${value} (${source})`)
    return value
  }
  try {
    if (distribution.names.length > 0)
      return await prepare(distribution).catch((error: unknown) => {
        say(`> Code is without ${distribution.names.join(', ')}: ${reason(error)}`)
        return prepare({ names: [] })
      })
    return await prepare(distribution)
  } catch (error) {
    say(`> Code has the standard library alone: ${reason(error)}`)
    return ''
  }
}
