import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../infra/metrics/create-metrics.ts'
import { createTemporalMetrics } from '../../infra/metrics/temporal-metrics.ts'
import { runProgram } from '../deploy/run-program.ts'
import { npmPackages } from '../support/npm-packages.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { prometheusPrograms } from './prometheus.ts'

const repository = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFile(path.join(repository, file), 'utf8')

/** Every metric that a process can expose, with its labels. */
async function exposed() {
  const { registry } = createMetrics()
  createTemporalMetrics(registry, { taskQueues: [], activityTypes: [] })
  const series = new Map<string, Set<string>>()
  for (const metric of registry.getMetricsAsArray()) {
    const labels = new Set<string>('labelNames' in metric && Array.isArray(metric.labelNames) ? metric.labelNames : [])
    const text = await registry.getSingleMetricAsString(metric.name)
    const isHistogram = text.includes(`# TYPE ${metric.name} histogram`)
    if (!isHistogram) series.set(metric.name, labels)
    else for (const end of ['_bucket', '_sum', '_count']) series.set(metric.name + end, new Set([...labels, 'le']))
  }
  return series
}

/** Metrics in an expression, each with the labels that the expression names. */
function usedIn(expression: string): { name: string; labels: string[] }[] {
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/,\s*/))
  return [...expression.matchAll(/\b((?:assistant|temporal|nodejs|process)_[a-z0-9_]+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name,
      labels: [...grouped, ...[...selector.matchAll(/(\w+)(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)],
    }),
  )
}

const ofScrapers = new Set(['job', 'instance'])

async function expectAllExposed(expressions: string[], atLeast: number) {
  const series = await exposed()
  const used = expressions.flatMap(usedIn)
  expect(used.length).toBeGreaterThan(atLeast)
  for (const { name, labels } of used) {
    expect([...series.keys()]).toContain(name)
    for (const label of labels.filter((candidate) => !ofScrapers.has(candidate)))
      expect({ name, labels: [...(series.get(name) ?? [])] }).toMatchObject({ labels: expect.arrayContaining([label]) })
  }
}

const grafana = '@grafana/grafana-foundation-sdk'

/** Grafana's own types, and what the dashboard's JSON is checked against: as literals, so that unknown members fail. */
const dashboardTypes = `
import type * as grafana from '${grafana}/dashboard'
import type { Dataquery } from '${grafana}/prometheus'
import type { FieldConfig, Options } from '${grafana}/timeseries'

/** The type as JSON has it: enums by their values, no methods. */
type Json<T> = 0 extends 1 & T ? unknown
  : T extends string ? \`\${T}\`
  : T extends number ? (number extends T ? T : \`\${T}\` extends \`\${infer Value extends number}\` ? Value : never)
  : T extends (infer Element)[] ? Json<Element>[]
  : T extends object ? { [Key in keyof T as T[Key] extends (...args: never[]) => unknown ? never : Key]: Json<T[Key]> }
  : T

type TimeSeries = Json<Omit<grafana.Panel, 'type' | 'targets' | 'options' | 'fieldConfig'>> & {
  type: 'timeseries'
  targets: Json<Dataquery>[]
  options: Json<Options>
  fieldConfig: {
    defaults: Json<Omit<grafana.FieldConfig, 'custom'>> & { custom: Partial<Json<FieldConfig>> }
    overrides: []
  }
}
type Dashboard = Json<Omit<grafana.Dashboard, 'panels'>> & { panels: (TimeSeries | Json<grafana.RowPanel>)[] }

export const dashboard: Dashboard = `

/** Checks a dashboard with the TypeScript compiler. Throws with what it printed. */
async function checkDashboard(json: string): Promise<void> {
  const packages = await npmPackages('grafana', [`${grafana}@0.0.21`])
  const folder = await mkdtemp(path.join(tmpdir(), 'dashboard-'))
  try {
    await symlink(path.join(packages, 'node_modules'), path.join(folder, 'node_modules'))
    await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(path.join(folder, 'dashboard.ts'), dashboardTypes + json)
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
    const compiler = path.join(repository, 'node_modules/.bin/tsc')
    await runProgram(process.execPath, [compiler, ...options, '--target', 'es2024', 'dashboard.ts'], { cwd: folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('dashboard and alerts', () => {
  it(
    "have a dashboard of Grafana's schema",
    async () => {
      const dashboard = await read('deploy/grafana/assistant-platform.json')
      await checkDashboard(dashboard)
      for (const [right, wrong] of [
        ['"fillOpacity"', '"opacity"'],
        ['"showLegend": true,', ''],
        ['"mode": "multi"', '"mode": "many"'],
        ['"legendFormat"', '"legend"'],
      ] as const)
        await expect(checkDashboard(dashboard.replace(right, wrong))).rejects.toThrow(/error TS/)
    },
    installTimeoutMs,
  )

  it(
    'have alerts that fire when everything fails, and none that fires when nothing does',
    async () => {
      const promtool = path.join(await prometheusPrograms(), 'promtool')
      const printed = await runProgram(promtool, ['test', 'rules', path.join(import.meta.dirname, 'alerts.test.yml')])
      expect(printed).toContain('SUCCESS')
      const rules = await runProgram(promtool, [
        'check',
        'rules',
        path.join(repository, 'deploy/prometheus/alerts.yml'),
      ])
      const tests = await read('test/metrics/alerts.test.yml')
      expect(rules).toContain(`${new Set(tests.match(/alertname="\w+/g)).size} rules found`)
    },
    installTimeoutMs,
  )

  it('use metrics and labels that the service exposes', async () => {
    const { panels } = JSON.parse(await read('deploy/grafana/assistant-platform.json'))
    const expressions = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    )
    await expectAllExposed(expressions, 25)
  })

  it('have alerts on metrics that the service exposes, each with a section in the runbook', async () => {
    const page = 'docs/operations/what-to-do-when.md'
    const rules = await read('deploy/prometheus/alerts.yml')
    const expressions = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expression = '']) => expression)
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
    expect(names).toHaveLength(expressions.length)
    await expectAllExposed(expressions, 10)
    const entries = [...(await read(page)).matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name)
    expect(entries.toSorted()).toEqual(names.toSorted())
    for (const name of names) expect(rules).toContain(`'${page}#${name.toLowerCase()}'`)
  })

  it('document every metric of the service', async () => {
    const page = await read('docs/metrics.md')
    for (const { name } of createMetrics()
      .registry.getMetricsAsArray()
      .filter((metric) => metric.name.startsWith('assistant_')))
      expect(page).toContain(`\`${name}\``)
  })
})
