import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createLogger } from '../../infra/logger.ts'
import { freePort } from '../../local/services/ports.ts'
import { startWorker } from '../../worker/start-worker.ts'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { inForm } from '../support/long-form.ts'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import type { ScriptedReply } from '../support/scripted-model.ts'
import { startProxyOf } from '../support/tcp-proxy.ts'
import { insertUser } from '../support/users.ts'
import { prometheusPrograms, startPrometheus } from './prometheus.ts'

const token = 'a token for the metrics, long enough'
const root = path.join(import.meta.dirname, '../..')
const read = (name: string) => readFile(path.join(root, name), 'utf8')
/** An alert looks back minutes, and waits minutes; here it does so for seconds. What it compares stays. */
const hurried = (rules: string) => rules.replaceAll(/\[\d+m\]/g, '[20s]').replaceAll(/^( +for: )\d+m$/gm, '$12s')
const good: ScriptedReply = { text: 'All is well.' }

interface Case {
  alert: string
  /** Words of the alert's section in docs/operations/what-to-do-when.md that name the cause. */
  says: RegExp
  fault: () => Promise<unknown>
  /** What an operator sees who follows the section, while the fault lasts. */
  seen?: () => Promise<unknown>
  cure: () => Promise<unknown>
}

/**
 * Each alert of deploy/prometheus/alerts.yml, fired by what it is for in a Prometheus that scrapes API and worker, and
 * ended by what its section says.
 */
describe('an alert', () => {
  let service: ModelService
  let worker: Awaited<ReturnType<typeof startWorker>> | undefined
  let prometheus: Awaited<ReturnType<typeof startPrometheus>>
  let folder: string
  let mongodb: Awaited<ReturnType<typeof startProxyOf>>
  let temporal: Awaited<ReturnType<typeof startProxyOf>>
  let workerPort: number
  let reply: () => ScriptedReply = () => good
  let talk: Awaited<ReturnType<typeof conversation>>
  const runs = new AbortController()

  const logger = createLogger('alerts', 'silent')
  const startOurWorker = async (more: object = {}) =>
    startWorker({ ...service.settings, metricsPort: workerPort, ...more }, logger)
  /** Asks, and forgets the answer: it may be refused. */
  const ask = (content = 'Go') =>
    talk.client
      .fetch('POST', '/runs/stream', talk.payload(content))
      .then((answer) => answer.text())
      .catch(() => undefined)
  const inLoop = async (work: () => Promise<unknown>, signal: AbortSignal) => {
    while (!signal.aborted) {
      await work()
      await pause(200)
    }
  }
  const firing = (alert: string) => prometheus.count(`ALERTS{alertname="${alert}",alertstate="firing"}`)
  const health = async () => JSON.stringify(await (await fetch(`${service.url}/ok`)).json())

  beforeAll(async () => {
    await prometheusPrograms()
    folder = await mkdtemp(path.join(tmpdir(), 'alerts-'))
    const { mongodbUri, temporalAddress } = inject('services')
    mongodb = await startProxyOf(mongodbUri)
    temporal = await startProxyOf(temporalAddress)
    workerPort = await freePort()
    service = await startModelService({
      respond: () => reply(),
      worker: false,
      env: {
        MONGODB_URI: mongodb.throughProxy,
        TEMPORAL_ADDRESS: temporal.throughProxy,
        METRICS_PORT: '0',
        METRICS_TOKEN: token,
        EMBEDDING_DIMENSIONS: '64',
        DEPENDENCY_TIMEOUT_SECONDS: '4',
        RUNS_IN_API: 'false',
      },
    })
    worker = await startOurWorker()
    talk = await conversation(service)
    const rules = path.join(folder, 'alerts.yml')
    await writeFile(rules, hurried(await read('deploy/prometheus/alerts.yml')))
    const jobs = { 'assistant-api': service.api.metricsPort, 'assistant-worker': workerPort }
    prometheus = await startPrometheus({ jobs, token, rules, folder })
  }, installTimeoutMs)
  afterAll(async () => {
    runs.abort()
    await prometheus?.stop()
    await worker?.close()
    await service?.close()
    await mongodb?.close()
    await temporal?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const cases: Case[] = [
    {
      alert: 'AssistantProcessDown',
      says: /Without a worker, runs wait/,
      fault: async () => worker?.close(),
      seen: async () => expect(await health()).toContain('"workers"'),
      cure: async () => (worker = await startOurWorker()),
    },
    {
      alert: 'AssistantRequestsFail',
      says: /`GET \/ok` names the server/,
      fault: async () => mongodb.refuse(),
      seen: async () => expect(await health()).toMatch(/mongo/i),
      cure: async () => mongodb.restore(),
    },
    {
      alert: 'AssistantModelFails',
      says: /401 and 402: key or budget/,
      fault: async () => (reply = () => ({ status: 401, errorMessage: 'no such key' })),
      cure: async () => (reply = () => good),
    },
    {
      alert: 'AssistantRunsFail',
      says: /If `AssistantModelFails` fires too, begin there/,
      fault: async () => (reply = () => ({ status: 401, errorMessage: 'no such key' })),
      cure: async () => (reply = () => good),
    },
    {
      alert: 'AssistantRunsWait',
      says: /start more/,
      // One step at a time, and each takes six seconds.
      fault: async () => {
        await worker?.close()
        worker = await startOurWorker({ modelStepsAtOnce: 1 })
        reply = () => ({ after: pause(6_000), text: 'Late.' })
        for (let number = 0; number < 4; number++) {
          const other = await conversation(service)
          void other.client.fetch('POST', '/runs/stream', other.payload('Go')).then((answer) => answer.text())
        }
      },
      cure: async () => {
        reply = () => good
        await worker?.close()
        worker = await startOurWorker()
      },
    },
    {
      alert: 'AssistantFirstTextSlow',
      says: /`assistant_model_request_seconds` \(the model\)/,
      fault: async () => (reply = () => ({ after: pause(11_000), text: 'Late.' })),
      seen: async () =>
        expect(
          await prometheus.count(
            'histogram_quantile(0.95, sum by (le) (rate(assistant_model_request_seconds_bucket[20s]))) > 10',
          ),
        ).toBe(1),
      cure: async () => (reply = () => good),
    },
    {
      alert: 'AssistantIngestionFails',
      says: /`GET \/ok` says which/,
      fault: async () => {
        for (let number = 0; number < 3; number++) {
          service.model.embeddings.fail({ status: 500, times: 6 })
          const client = await knowledgeClient(await insertUser(service))
          await client.upload([{ name: 'a.md', content: '# Harbour\n\nDredging.' }], '?wait=false')
        }
      },
      // Its server is back after eighteen refusals.
      cure: async () => undefined,
    },
    {
      alert: 'AssistantStoreSlow',
      says: /MongoDB: slow statements/,
      fault: async () => mongodb.slow(200),
      cure: async () => mongodb.restore(),
    },
    {
      alert: 'AssistantWorkflowTasksFail',
      says: /Go back to the version before/,
      // As a newer API does, whose workflows this worker does not know.
      fault: async () => {
        for (let number = 0; number < 4; number++)
          await service.temporal.workflow.start('workflowOfTomorrow', {
            taskQueue: `${service.env['TASK_QUEUE_PREFIX']}runs`,
            workflowId: `tomorrow/${service.env['TASK_QUEUE_PREFIX']}${number}`,
          })
      },
      cure: async () => {
        for (let number = 0; number < 4; number++)
          await service.temporal.workflow
            .getHandle(`tomorrow/${service.env['TASK_QUEUE_PREFIX']}${number}`)
            .terminate('the version before is back')
      },
    },
    {
      alert: 'AssistantTemporalFails',
      says: /`TRANSPORT_ERROR`: the server, the network/,
      fault: async () => temporal.refuse(),
      seen: async () => expect(await health()).toMatch(/temporal/i),
      cure: async () => temporal.restore(),
    },
    {
      alert: 'AssistantEventLoopBlocked',
      says: /Start more processes/,
      fault: async () => {
        const blocked = new AbortController()
        void inLoop(async () => {
          const end = Date.now() + 700
          while (Date.now() < end);
        }, blocked.signal)
        unblock = () => blocked.abort()
      },
      cure: async () => unblock(),
    },
  ]
  let unblock = () => {}

  const chosen = ['AssistantProcessDown', 'AssistantRunsWait', 'AssistantTemporalFails']
  it.each(inForm({ long: cases, short: cases.filter(({ alert }) => chosen.includes(alert)) }))(
    '$alert is fired by its fault, and ends with what its section says',
    async ({ alert, says, fault, seen, cure }) => {
      const [, section = ''] = (await read('docs/operations/what-to-do-when.md')).split(`\n### ${alert}\n`)
      expect(section.split('\n### ')[0]).toMatch(says)
      await eventually('an undisturbed service', async () => (await firing(alert)) === 0, 60_000)
      const over = new AbortController()
      const asking = inLoop(ask, over.signal)
      try {
        await fault()
        await eventually(`${alert} fires`, async () => (await firing(alert)) > 0, 90_000)
        await seen?.()
      } finally {
        await cure()
      }
      await eventually(`${alert} ends`, async () => (await firing(alert)) === 0, 90_000)
      over.abort()
      await asking
    },
    300_000,
  )

  it('has a case here, but for one', async () => {
    const names = [...(await read('deploy/prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(([, name]) => name)
    // Its tasks wait half a minute for a worker that is not there: only `promtool` fires it (alerts.test.yml).
    expect(names.filter((name) => !cases.some(({ alert }) => alert === name))).toEqual(['AssistantTasksWait'])
  })
})
