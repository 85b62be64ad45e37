import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * `npm run audit`: known vulnerabilities of the packages that the service needs at run time. Fails for high and
 * critical ones. If the registry does not offer audits, it says that nothing was checked, and succeeds.
 */
interface Report {
  auditReportVersion?: number
  message?: string
  error?: { summary?: string }
  vulnerabilities?: Record<string, { name: string; severity: string; range: string }>
}

const { report, said } = await audit()
if (report?.auditReportVersion === undefined) {
  const reason = report?.message || report?.error?.summary || said || 'no answer'
  console.log(`The dependencies were NOT checked: the registry has no answer to npm audit (${firstLine(reason)}).`)
} else {
  const found = Object.values(report.vulnerabilities ?? {})
  for (const { name, severity, range } of found) console.log(`${severity}: ${name} ${range}`.trimEnd())
  const grave = found.filter(({ severity }) => severity === 'high' || severity === 'critical')
  console.log(`${found.length} packages with known weaknesses, ${grave.length} of them high or critical.`)
  if (grave.length > 0) process.exitCode = 1
}

/**
 * npm exits with 1 for vulnerabilities and for failures alike; its report says which it was. As in the image, the
 * packages of the workspaces are no part of the service.
 */
function audit(): Promise<{ report: Report | undefined; said: string }> {
  const { promise, resolve } = Promise.withResolvers<{ report: Report | undefined; said: string }>()
  const root = path.dirname(import.meta.dirname)
  const folder = mkdtempSync(path.join(tmpdir(), 'assistant-audit-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const manifest: object = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, workspaces: undefined }))
  copyFileSync(path.join(root, 'package-lock.json'), path.join(folder, 'package-lock.json'))
  const options = { cwd: folder, maxBuffer: 64 * 1024 * 1024, timeout: 120_000 }
  const lockFileOnly = ['--package-lock-only', '--omit=dev', '--ignore-scripts']
  execFileSync('npm', ['prune', ...lockFileOnly, '--no-audit', '--silent'], { ...options, stdio: 'ignore' })
  execFile('npm', ['audit', ...lockFileOnly, '--json'], options, (_error, stdout, stderr) => {
    resolve({ report: parsed(stdout), said: stderr })
  })
  return promise
}

function parsed(text: string): Report | undefined {
  try {
    return JSON.parse(text) as Report
  } catch {
    return undefined
  }
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0]?.slice(0, 300) ?? ''
}
