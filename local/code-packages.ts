import { prepareCodePackages } from './services/code-packages.ts'
import { reason } from './services/ways.ts'

/** Whether code is executed, and nothing names its packages. */
export function wantsCodePackages(env: NodeJS.ProcessEnv): boolean {
  return env['CODE_INTERPRETER'] !== 'off' && !env['CODE_PACKAGES']
}

/** The value of `CODE_PACKAGES`; empty if they cannot be had. */
export async function codePackages(say: (line: string) => void): Promise<string> {
  try {
    const { value, source } = await prepareCodePackages((line) => say(`> ${line}`))
    say(`> Python packages for code: ${value} (${source})`)
    return value
  } catch (error) {
    say(`> Code has the standard library alone: ${reason(error)}`)
    return ''
  }
}
