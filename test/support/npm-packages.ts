import { installInCache } from '../../local/services/cache.ts'
import { run } from '../../local/services/command.ts'

/**
 * Packages of npm that only a test uses, each with its version: installed once, in the cache folder. Answers the
 * folder that holds `node_modules`.
 */
export function npmPackages(name: string, packages: readonly string[]): Promise<string> {
  const folder = [name, ...packages.map((entry) => entry.replaceAll(/[^\w.]+/g, '-'))].join('-')
  return installInCache(folder, console.log, async (target) => {
    console.log(`installing ${packages.join(', ')}`)
    const options = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts']
    await run('npm', ['install', '--prefix', target, ...options, ...packages])
  })
}
