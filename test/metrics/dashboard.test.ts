import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../infra/metrics/create-metrics.ts'
import { createTemporalMetrics } from '../../infra/metrics/temporal-metrics.ts'

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

describe('dashboard and alerts', () => {
  it('use metrics and labels that the service exposes', async () => {
    const { panels } = JSON.parse(await read('deploy/grafana/assistant-platform.json'))
    const expressions = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr),
    )
    await expectAllExposed(expressions, 25)
  })

  it('have alerts on metrics that the service exposes, each with a section in the runbook', async () => {
    const rules = await read('deploy/prometheus/alerts.yml')
    const expressions = [...rules.matchAll(/^ +expr: (.*)$/gm)].map(([, expression = '']) => expression)
    const names = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
    expect(names).toHaveLength(expressions.length)
    await expectAllExposed(expressions, 10)
    const entries = [...(await read('docs/alerts.md')).matchAll(/^## (\w+)$/gm)].map(([, name = '']) => name)
    expect(entries.toSorted()).toEqual(names.toSorted())
    for (const name of names) expect(rules).toContain(`docs/alerts.md#${name.toLowerCase()}`)
  })

  it('document every metric of the service', async () => {
    const page = await read('docs/metrics.md')
    for (const { name } of createMetrics()
      .registry.getMetricsAsArray()
      .filter((metric) => metric.name.startsWith('assistant_')))
      expect(page).toContain(`\`${name}\``)
  })
})
