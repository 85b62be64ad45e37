const names = ['PATH', 'HOME', 'NODE_COMPILE_CACHE']

/**
 * The environment of a program that a test starts: what each program needs, and where Node finds the compiled code of
 * an earlier start. None of our settings.
 */
export function plainEnv(): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, process.env[name]] as const).filter(isSet))
}

const isSet = (entry: readonly [string, string | undefined]): entry is [string, string] => entry[1] !== undefined
