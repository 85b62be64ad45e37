import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const root = path.resolve(import.meta.dirname, '../..')
const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** Files that exist only on a running installation or after a build. */
const notInTheRepository = [
  '.data/addresses.json',
  'DATA_DIR/addresses.json',
  'docker-compose.override.yml',
  'embed.js',
  'manifest.json',
  'user.json',
  'web/dist',
  // The bundle of the image, and files of Temporal's SDK.
  'dist/api.mjs',
  'dist/worker.mjs',
  'dist/migrate.mjs',
  'lib/workflow/threaded-vm.js',
  'lib/workflow/workflow-worker-thread.js',
]
/** Names in capitals that other programs define. */
const namesOfOthers = [
  'CAP_SYS_ADMIN',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'SSL_CERT_FILE',
]

const files = new Set(git('ls-files').split('\n').filter(Boolean))
const folders = new Set([...files].flatMap(foldersOf))
const topFolders = new Set([...folders].map((folder) => folder.split('/')[0]))
const pages = [...files].filter((file) => file.endsWith('.md')).map((file) => ({ file, text: read(file) }))
const code = [...files]
  .filter((file) => /\.(ts|tsx|mjs|py|sh|ya?ml)$|^\.env\.example$|Dockerfile$/.test(file))
  .filter((file) => !file.startsWith('test/docs/'))
  .map(read)

describe('The pages', () => {
  it('are found', () => {
    expect(pages.length).toBeGreaterThan(60)
  })

  it('link only to files, folders and headings that exist', () => {
    expect(
      pages.flatMap(({ file, text }) =>
        links(text)
          .filter((link) => !leadsSomewhere(file, link))
          .map(at(file)),
      ),
    ).toEqual([])
  })

  it('name only files that exist', () => {
    expect(
      pages.flatMap(({ file, text }) =>
        fileNames(text)
          .filter((name) => !isFile(file, name))
          .map(at(file)),
      ),
    ).toEqual([])
  })

  it('name only npm scripts that exist', () => {
    const manifest: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
    const named = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/npm run (?:-s |--silent )?([\w:-]+)/g)].map(([, name = '']) => ({ file, name })),
    )
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter(({ name }) => !(name in manifest.scripts))).toEqual([])
  })

  it('name only settings and variables that exist', () => {
    const known = new Set(code.flatMap((text) => text.match(/[A-Z][A-Z0-9]*_[A-Z0-9_]+/g) ?? []))
    const exists = (name: string) =>
      [name, name.replace(/_FILE$/, '')].some((form) => known.has(form)) || namesOfOthers.includes(name)
    const named = pages.flatMap(({ file, text }) =>
      [...text.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)(?:=[^`]*)?`/g)].map(([, name = '']) => ({ file, name })),
    )
    expect(named.length).toBeGreaterThan(200)
    expect(named.filter(({ name }) => !exists(name))).toEqual([])
  })
})

const at = (file: string) => (name: string) => `${file}: ${name}`

function foldersOf(file: string): string[] {
  const parts = file.split('/').slice(0, -1)
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'))
}

/** Targets of Markdown links and of `src`, `srcset` and `href`, other than addresses of the web. */
function links(text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
  return targets.filter((target) => !/^([a-z]+:|\/)/.test(target))
}

function leadsSomewhere(page: string, link: string): boolean {
  const [target = '', heading] = link.split('#')
  const file =
    target === '' ? page : path.posix.normalize(path.posix.join(path.posix.dirname(page), target)).replace(/\/$/, '')
  if (!files.has(file)) return folders.has(file)
  return heading === undefined || headings(read(file)).includes(heading)
}

/** The ids that headings of a page get. */
function headings(text: string): string[] {
  const titles = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title.trim().toLowerCase())
  return titles.map((title) => title.replaceAll(/[^\p{L}\p{N}_\- ]/gu, '').replaceAll(' ', '-'))
}

/** What stands between backticks and looks like a file of this project. */
function fileNames(text: string): string[] {
  const words = [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, quoted = '']) => quoted.split(/[\s,;]+/))
  const plain = words.filter((word) => !/[*{}$<>…=?]|:\/\/|^[~/]/.test(word))
  return plain.filter((word) => hasKnownEnding(word) || isBelowOurFolders(word))
}

const hasKnownEnding = (word: string) => /^[\w.\-/]+\.(ts|tsx|md|py|sh|json|ya?ml|css|mjs|html|toml|js)$/.test(word)
const isBelowOurFolders = (word: string) =>
  /^[\w.-]+(\/[\w.-]+)+\/?$/.test(word) && topFolders.has(word.split('/')[0] ?? '')

function isFile(page: string, name: string): boolean {
  const plain = name.replace(/\/$/, '')
  const besidePage = path.posix.normalize(path.posix.join(path.posix.dirname(page), plain))
  if (files.has(plain) || folders.has(plain) || files.has(besidePage) || notInTheRepository.includes(plain)) return true
  return [...files].some((file) => file.endsWith(`/${plain}`))
}
