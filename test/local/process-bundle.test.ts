import { execFile } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleSources, currentBundle, root, scriptOf } from '../../scripts/process-bundle.ts'
import { pdfOf, pngOf, scanOf } from '../support/scans.ts'

describe('the bundle of API and worker', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    const build = [path.join(root, 'scripts/build-processes.ts')]
    if (!existsSync(currentBundle())) await promisify(execFile)(process.execPath, build, { cwd: root })
  }, 180_000)

  it('is made of hashed sources only, so that a change of any of them makes it stale', () => {
    const folder = currentBundle()
    const own = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.map'))
      .map((name) => path.join(folder, name))
      .flatMap((map) =>
        (JSON.parse(readFileSync(map, 'utf8')) as { sources: string[] }).sources.map((source) =>
          path.relative(root, path.resolve(path.dirname(map), source)),
        ),
      )
      .filter((file) => file.endsWith('.ts') && !file.startsWith('node_modules'))
    expect(own).toContain('api/server.ts')
    expect(own).toContain('worker/main.ts')
    expect(own).toContain('scripts/migrate.ts')
    expect(own).toContain('infra/extract/formats/open-document.ts')
    const hashed = new Set(bundleSources())
    expect(own.filter((file) => !hashed.has(file))).toEqual([])
  })

  it('replaces what is in a folder that `npm run build` names', async () => {
    const dist = await mkdtemp(path.join(tmpdir(), 'assistant-dist-'))
    try {
      await writeFile(path.join(dist, 'api.mjs'), 'old')
      await promisify(execFile)(process.execPath, ['scripts/build-processes.ts', dist], { cwd: root })
      expect(readFileSync(path.join(dist, 'api.mjs'), 'utf8')).toContain('main-api.mjs')
      const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>
      }
      for (const name of ['migrate', 'api', 'worker']) {
        expect(scripts[name]).toBe(`node dist/${name}.mjs`)
        expect(existsSync(path.join(dist, `${name}.mjs`))).toBe(true)
      }
    } finally {
      await rm(dist, { recursive: true, force: true })
    }
  })

  it('reports errors at the lines of the sources', async () => {
    const printStack = `const { exit } = process; process.exit = (code) => { console.error(new Error('here').stack); exit(code) }`
    const preload = `data:text/javascript,${encodeURIComponent(printStack)}`
    const bundled = scriptOf('api')
    expect(bundled).toMatch(/api\.mjs$/)
    // Without settings it ends at once.
    const failed = promisify(execFile)(process.execPath, ['--import', preload, bundled], { cwd: tmpdir(), env: {} })
    await expect(failed).rejects.toMatchObject({
      stderr: expect.stringMatching(/SECRETS_KEY is missing[^]*\/api\/server\.ts:\d+:\d+/),
    })
  })

  const packages = ['@hyzyla/pdfium', 'tesseract.js-core', '@tesseract.js-data']
  it.each([
    ['harbour-pandoc.docx', 'docx', []],
    ['ships.xlsx', 'xlsx', []],
    ['harbour-ghostscript.pdf', 'pdf', packages.slice(0, 1)],
    ['scan.png', 'png', packages.slice(1)],
  ])('has a reader that reads %s with no code but its own', async (name, extension, allowed) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'assistant-read-'))
    try {
      const fixture = path.join(root, 'test/knowledge/fixtures', name)
      if (extension === 'png') await writeFile(path.join(folder, 'file'), pngOf(await scanOf(pdfOf(['A lantern.']))))
      else await copyFile(fixture, path.join(folder, 'file'))
      const readers = path.join(currentBundle(), 'readers')
      const readable = [readers, folder, ...allowed.map((name) => path.join(root, 'node_modules', name))]
      const node = ['--permission', ...readable.map((readable) => `--allow-fs-read=${readable}`)]
      const script = ['--import', path.join(readers, 'lockdown.mjs'), path.join(readers, 'main.mjs')]
      const reading = promisify(execFile)(process.execPath, [...node, ...script], { cwd: folder, env: {} })
      const ocr = { languages: ['eng'], maxPages: 1 }
      reading.child.stdin?.end(`${JSON.stringify({ name, maxTokens: 512, overlapTokens: 64, ocr })}\n`)
      const lines = (await reading).stdout.trim().split('\n')
      expect(lines.at(-1)).toMatch(/^\{"end":/)
      expect(lines.filter((line) => line.startsWith('{"chunk":'))).not.toEqual([])
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('is used only for the sources that it was made of', async () => {
    const project = await mkdtemp(path.join(tmpdir(), 'assistant-bundle-'))
    try {
      await mkdir(path.join(project, 'api'))
      await writeFile(path.join(project, 'api/server.ts'), 'first')
      expect(scriptOf('api', project)).toBe('api/server.ts')
      const bundled = path.join(currentBundle(project), 'api.mjs')
      await mkdir(path.dirname(bundled), { recursive: true })
      await writeFile(bundled, '')
      expect(scriptOf('api', project)).toBe(bundled)
      await writeFile(path.join(project, 'api/server.ts'), 'second')
      expect(scriptOf('api', project)).toBe('api/server.ts')
    } finally {
      await rm(project, { recursive: true, force: true })
    }
  })
})
