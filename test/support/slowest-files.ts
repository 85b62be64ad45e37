/** The time of one test file in milliseconds: its import, its hooks and its tests. */
export interface FileTime {
  file: string
  milliseconds: number
}

const start = '<!-- slowest files: written by UPDATE_TEST_TIMES=1 npm test -->'
const end = '<!-- end of the slowest files -->'

/** A Markdown table of the twenty slowest files, the slowest first, in seconds. */
export function slowestFiles(times: FileTime[]): string {
  const slowest = times.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, 20)
  const rows = slowest.map(({ file, milliseconds }) => ({
    file: `\`${file}\``,
    time: (milliseconds / 1000).toFixed(1),
  }))
  const width = Math.max(4, ...rows.map(({ file }) => file.length))
  const head = [`| ${'File'.padEnd(width)} | Seconds |`, `| ${'-'.repeat(width)} | ------: |`]
  return [...head, ...rows.map(({ file, time }) => `| ${file.padEnd(width)} | ${time.padStart(7)} |`)].join('\n')
}

/** The page with its table replaced. Throws if the page has no place for one. */
export function withTable(page: string, table: string): string {
  const from = page.indexOf(start)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`the page has no lines "${start}" and "${end}" around its table`)
  return `${page.slice(0, from + start.length)}\n\n${table}\n\n${page.slice(to)}`
}

/** The files that the table of the page names, the slowest first. */
export function filesIn(page: string): string[] {
  const table = page.slice(page.indexOf(start) + start.length, page.indexOf(end))
  return [...table.matchAll(/^\| `([^`]+)`/gm)].flatMap(([, file]) => file ?? [])
}
