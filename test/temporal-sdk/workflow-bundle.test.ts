import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failureConverterPath } from '../../infra/temporal/data-converter.ts'
import { bundleSources, workflowBundle } from '../../worker/temporal-sdk/workflow-bundle.ts'

const root = join(import.meta.dirname, '../..')

describe('the bundle of workflows', () => {
  it.each([{}, { failureConverterPath }])('is rebuilt when any of its sources changes (%o)', async (options) => {
    const { code } = await workflowBundle(options)
    const hashed = await bundleSources()
    const bundled = sourcesIn(code)
    expect(bundled).toContain('workflows/thread.ts')
    expect(bundled.filter((file) => !hashed.includes(file))).toEqual([])
    // It decides how the bundle is made.
    expect(hashed).toContain('worker/temporal-sdk/workflow-bundle.ts')
  })

  // All executions of a worker share what a module has evaluated. Exported objects and arrays are frozen by the SDK.
  it('contains no module with state', async () => {
    const { code } = await workflowBundle()
    const kept = /^(?:export )?(?:let|var) |^(?:export )?const [^=]*= new (?:Weak)?(?:Map|Set)\b/m
    const own = await Promise.all(sourcesIn(code).map(async (file) => [file, await readFile(join(root, file), 'utf8')]))
    expect(own.length).toBeGreaterThan(10)
    expect(own.filter(([, text = '']) => kept.test(text)).map(([file]) => file)).toEqual([])
  })
})

/** The project's own files, by the source map at the end of the bundle. */
function sourcesIn(code: string): string[] {
  const map = sourceMapOf(code)
  if (typeof map !== 'object' || map === null || !('sources' in map) || !Array.isArray(map.sources)) return []
  return map.sources
    .map((source) => relative(root, String(source)))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('..') && !file.startsWith('node_modules'))
}

function sourceMapOf(code: string): unknown {
  const [, encoded = ''] = /sourceMappingURL=data:application\/json;(?:charset=[^;]+;)?base64,(\S+)/.exec(code) ?? []
  return JSON.parse(Buffer.from(encoded, 'base64').toString())
}
