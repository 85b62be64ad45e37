import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vitest/config'
import { currentBundle, readersFolder } from '../../scripts/process-bundle.ts'

const folder = path.join(currentBundle(), readersFolder)
const variable = 'BUNDLED_READERS'
const addresses = /new URL\('(\.\/child\/(\w+)\.ts)', import\.meta\.url\)/g

/** If the sources are bundled, tests read files by the readers of the bundle, as the service does: they start sooner. */
export const bundledReaders = {
  env: existsSync(folder) ? { [variable]: `${pathToFileURL(folder).href}/` } : undefined,
  // What is transformed is kept for later runs: it must not depend on the bundle.
  plugins: [
    {
      name: 'bundled-readers',
      enforce: 'pre',
      transform(code, id) {
        if (!/\/infra\/(?:extract|python)\//.test(id)) return null
        const bundle = `process.env['${variable}']`
        return {
          code: code.replaceAll(addresses, `new URL(${bundle} ? '$2.mjs' : '$1', ${bundle} ?? import.meta.url)`),
          map: null,
        }
      },
    } satisfies Plugin,
  ],
}
