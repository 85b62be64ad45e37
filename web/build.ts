import { createHash } from 'node:crypto'
import { cpSync, existsSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { makeMathFonts } from './math-fonts.ts'

const web = import.meta.dirname
const root = path.dirname(web)
const dist = path.join(web, 'dist')
const stampFile = path.join(dist, '.stamp')

/**
 * Builds the console into a temporary folder and then moves it to `web/dist`, so that a running server never sees
 * half of it. Returns whether a build was necessary.
 */
async function buildConsole({ force = false } = {}): Promise<boolean> {
  const stamp = sourcesStamp()
  if (!force && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return false
  // Only now, because most starts need neither.
  const [{ build }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')])
  const fresh = `${dist}-${process.pid}`
  await makeMathFonts(root, path.join(web, '.math'))
  const shared = {
    configFile: false,
    logLevel: 'warn',
    // The texts are read as a whole.
    json: { namedExports: false },
    define: { 'process.env.NODE_ENV': '"production"' },
    // Markdown is read in workers, which have no document; the form for browsers asks a document for the names of letters.
    resolve: {
      alias: {
        'decode-named-character-reference': path.join(root, 'node_modules/decode-named-character-reference/index.js'),
      },
    },
  } as const
  await build({
    ...shared,
    root: web,
    plugins: [react()],
    worker: { format: 'es' },
    build: {
      outDir: fresh,
      emptyOutDir: true,
      assetsDir: 'console-assets',
      // The content security policy forbids inline data, and small files are cached well.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'es2022',
      rolldownOptions: {
        input: entries().map((name) => path.join(web, name)),
        // Each of these modules would be a request of its own. The texts wait for their language while they are loaded: what
        // they need must not be in a file that waits for them.
        output: {
          codeSplitting: {
            groups: [
              {
                name: 'base',
                test: /node_modules[\\/](?:react|react-dom|scheduler|@tanstack|openapi-fetch)[\\/]/,
                priority: 4,
              },
              {
                name: 'language',
                test: /vite[\\/]preload-helper|web[\\/]src[\\/](?:lib[\\/](?:language|after-login)|texts[\\/](?:languages|load|read))\.ts$/,
                priority: 3,
              },
              { name: 'icons', test: /node_modules[\\/]lucide-react[\\/]/, minShareCount: 2, priority: 2 },
              {
                name: 'shared',
                test: /(?:web[\\/]src[\\/](?:ui|lib)|client[\\/]src|web[\\/]src[\\/]texts[\\/]index\.ts)/,
                minShareCount: 3,
                priority: 1,
              },
            ],
          },
        },
        // Those that import such a module at once are loaded late themselves.
        checks: { pluginTimings: false, ineffectiveDynamicImport: false },
      },
    },
  })
  // Files of their own for script tags: of other sites, and of the pages of the API.
  for (const [entry, name, file] of [
    ['src/embed/main.ts', 'assistantChat', 'embed.js'],
    ['src/docs/theme.ts', 'theme', 'docs-theme.js'],
  ] as const)
    await build({
      ...shared,
      root: web,
      publicDir: false,
      build: {
        outDir: fresh,
        emptyOutDir: false,
        target: 'es2022',
        lib: { entry: path.join(web, entry), formats: ['iife'], name, fileName: () => file },
      },
    })
  copyPdfFiles(path.join(fresh, 'console-assets'))
  const styles = withBuiltFonts(path.join(fresh, 'console-assets'))
  writeFileSync(path.join(fresh, 'typeface.css'), styles.match(/@font-face \{[^}]*\}/g)?.join('\n') ?? '')
  // The pages of the API are a library's each; they get the console's look by this.
  writeFileSync(path.join(fresh, 'docs.css'), styles + readFileSync(path.join(web, 'src/docs/look.css'), 'utf8'))
  // The licences of the type faces must come with them.
  cpSync(path.join(root, 'node_modules/@fontsource-variable/figtree/LICENSE'), path.join(fresh, 'figtree-license.txt'))
  cpSync(path.join(root, 'node_modules/@fontsource/noto-sans-math/LICENSE'), path.join(fresh, 'math-license.txt'))
  await compress(fresh)
  writeFileSync(path.join(fresh, '.stamp'), stamp)
  rmSync(dist, { recursive: true, force: true })
  renameSync(fresh, dist)
  return true
}

function entries(): string[] {
  return globSync(['index.html', 'admin/index.html', 'diagram/index.html', 'preview/index.html'], { cwd: web })
}

/** What the reader of PDFs loads when a file needs it: maps of characters, and fonts that files may leave out. */
function copyPdfFiles(assets: string): void {
  const source = path.join(root, 'node_modules/pdfjs-dist')
  const { version } = JSON.parse(readFileSync(path.join(source, 'package.json'), 'utf8')) as { version: string }
  for (const name of ['LICENSE', 'cmaps', 'standard_fonts'])
    cpSync(path.join(source, name), path.join(assets, `pdfjs-${version}`, name), { recursive: true })
}

/** The console's typeface and colours for pages that are none of the console, with the names of the built files. */
function withBuiltFonts(assets: string): string {
  const built = (name: string) => `/console-assets/${globSync(`${name}-*.woff2`, { cwd: assets })[0]}`
  return readFileSync(path.join(web, 'src/styles/tokens.css'), 'utf8').replaceAll(
    /@fontsource-variable[\w/-]*\/([\w-]+)\.woff2/g,
    (_url, name: string) => built(name),
  )
}

/** Compressed forms beside each file, so that the server only has to send them. */
async function compress(folder: string): Promise<void> {
  const files = globSync('**/*.{js,mjs,css,html,svg}', { cwd: folder })
  await Promise.all(
    files.map(async (name) => {
      const file = path.join(folder, name)
      const content = readFileSync(file)
      // The last level takes seconds for a large file, and none of those is in a first load.
      const params = { [constants.BROTLI_PARAM_QUALITY]: content.length < 500_000 ? 11 : 10 }
      writeFileSync(`${file}.br`, await promisify(brotliCompress)(content, { params }))
      writeFileSync(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
    }),
  )
}

/** Changes whenever a source or a package changes. */
function sourcesStamp(): string {
  const hash = createHash('sha256')
  const sources = globSync(
    ['web/**/*.{ts,tsx,json,css,html,svg}', 'client/src/**/*.ts', 'domain/back-off.ts', 'package-lock.json'],
    {
      cwd: root,
      exclude: (name) => String(name).includes('dist'),
    },
  )
  for (const name of sources.toSorted()) hash.update(name).update(readFileSync(path.join(root, name)))
  return hash.digest('hex')
}

if (import.meta.main) {
  const startedAt = performance.now()
  const isNew = await buildConsole({ force: process.argv.includes('--force') })
  if (isNew) console.log(`the console is built (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
}
