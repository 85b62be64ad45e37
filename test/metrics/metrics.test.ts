import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conversation } from '../runs/support.ts'
import { eventually } from '../support/eventually.ts'
import { knowledgeClient } from '../support/knowledge.ts'
import { startModelService } from '../support/model-service.ts'
import { installTimeoutMs } from '../support/python-packages.ts'
import { allEvents } from '../support/sse.ts'
import { useStarted } from '../support/use-started.ts'
import { insertUser } from '../support/users.ts'
import { prometheusPrograms, startPrometheus } from './prometheus.ts'

const token = 'a token for the metrics, long enough'

describe('metrics', () => {
  const service = useStarted(() =>
    startModelService({
      env: { METRICS_PORT: '0', METRICS_TOKEN: token, EMBEDDING_DIMENSIONS: '256' },
    }),
  )

  const ask = (port: number | undefined, path: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers, method })
  const read = async (port: number | undefined) =>
    (await ask(port, '/metrics', { authorization: `Bearer ${token}` })).text()
  const ofApi = () => read(service.api.metricsPort)
  const ofWorker = () => read(service.worker?.metricsPort)
  /** The value of one series; undefined when it is not there. */
  const value = (text: string, series: string) => {
    const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }

  it('are served on a separate port with the token; health needs none', async () => {
    for (const port of [service.api.metricsPort, service.worker?.metricsPort]) {
      expect((await ask(port, '/health')).status).toBe(200)
      expect((await ask(port, '/metrics')).status).toBe(401)
      expect((await ask(port, '/metrics', { authorization: 'Bearer wrong' })).status).toBe(401)
      expect((await ask(port, '/elsewhere')).status).toBe(404)
      expect((await ask(port, '/metrics', {}, 'POST')).status).toBe(405)
      const told = await ask(port, '/metrics', { authorization: `Bearer ${token}` })
      expect(told.status).toBe(200)
      expect(told.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    }
    expect((await fetch(`${service.url}/metrics`)).status).toBe(404)
  })

  it('count a run in requests, stream, model, stores and Temporal', async () => {
    service.model.reply({ text: ['Hello', ' world'], usage: { prompt_tokens: 11, completion_tokens: 3 } })
    const talk = await conversation(service, { 'type==agent/model': 'a-model-of-a-user' })
    const { end } = await talk.stream('question')
    expect(end).toBe('end')
    const api = await eventually('the request is counted', async () => {
      const text = await ofApi()
      return value(text, 'assistant_http_requests_total{operation="runs.stream",status="200"}') === 1 ? text : undefined
    })
    expect(value(api, 'assistant_streams_open')).toBe(0)
    expect(value(api, 'assistant_stream_first_event_seconds_count{operation="runs.stream"}')).toBe(1)
    expect(value(api, 'assistant_stream_first_data_seconds_count{operation="runs.stream"}')).toBe(1)
    expect(value(api, 'assistant_mongodb_command_seconds_count{command="insert",outcome="ok"}')).toBeGreaterThan(0)

    const worker = await eventually('the worker has counted the run', async () => {
      const text = await ofWorker()
      return value(text, 'temporal_workflow_completed_total{workflow_type="threadWorkflow"}') === undefined &&
        value(text, 'temporal_local_activity_execution_latency_seconds_count{activity_type="modelStep"}') === undefined
        ? undefined
        : text
    })
    expect(value(worker, 'assistant_runs_ended_total{status="success"}')).toBe(1)
    expect(value(worker, 'assistant_run_wait_seconds_count')).toBe(1)
    expect(value(worker, 'assistant_model_tokens_total{model="other",kind="prompt"}')).toBe(11)
    expect(value(worker, 'assistant_model_tokens_total{model="other",kind="completion"}')).toBe(3)
    expect(value(worker, 'assistant_model_request_seconds_count{model="other",outcome="ok"}')).toBe(1)
    expect(value(worker, 'assistant_redis_command_seconds_count{command="EVAL",outcome="ok"}')).toBeGreaterThan(0)
    for (const name of [
      'temporal_workflow_task_schedule_to_start_latency_seconds_count',
      'temporal_worker_task_slots_available',
    ])
      expect(worker).toMatch(new RegExp(`^${name}\\{.*task_queue="[^"]*runs".*\\} [0-9]`, 'm'))
  })

  describe('with a Prometheus that scrapes them', () => {
    const deployed = path.join(import.meta.dirname, '../../deploy')
    const rules = path.join(deployed, 'prometheus/alerts.yml')
    let folder: string
    let prometheus: Awaited<ReturnType<typeof startPrometheus>>
    beforeAll(async () => {
      await prometheusPrograms()
      folder = await mkdtemp(path.join(tmpdir(), 'prometheus-'))
      const jobs = { 'assistant-api': service.api.metricsPort, 'assistant-worker': service.worker?.metricsPort }
      prometheus = await startPrometheus({ jobs, token, rules, folder })
    }, installTimeoutMs)
    afterAll(async () => {
      await prometheus.stop()
      await rm(folder, { recursive: true, force: true })
    })

    /** Uploads a file, and asks about it: a run with a tool call and a search. */
    async function askAboutFile() {
      const client = await knowledgeClient(await insertUser(service))
      await client.upload([{ name: 'harbour.md', content: '# Harbour\n\nThe dredging cost 73,500 marks.\n' }])
      const { body: thread } = await client.call('POST', '/threads/', { assistant_id: client.assistantId })
      service.model.reply({ toolCalls: [{ name: 'retrieval', arguments: { query: 'dredging' } }] })
      service.model.reply({ text: ['73,500', ' marks.'], usage: { prompt_tokens: 11, completion_tokens: 3 } })
      const ids = { thread_id: thread.thread_id, assistant_id: client.assistantId }
      const input = [{ type: 'human', content: 'What did the dredging cost?' }]
      expect((await allEvents(await client.fetch('POST', '/runs/stream', { ...ids, input }))).at(-1)?.event).toBe('end')
    }
    const expectData = (expression: string) =>
      eventually(`data for ${expression}`, async () => (await prometheus.count(expression)) > 0, 40_000)

    it('have data for every panel of the dashboard and for every alert', async () => {
      await askAboutFile()
      const { panels } = JSON.parse(await readFile(path.join(deployed, 'grafana/assistant-platform.json'), 'utf8'))
      const ofPanels: string[] = panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) =>
        targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m')),
      )
      // What they compare, whether an alert fires or not, and without the failures that nothing here has caused.
      const ofAlerts = [...(await readFile(rules, 'utf8')).matchAll(/^ +expr: (.*)$/gm)].map(([, expression = '']) =>
        expression.replaceAll(/ (==|>) /g, ' $1 bool ').replaceAll(/\{(status|outcome)[^}]*\}/g, ''),
      )
      expect(ofPanels.length).toBeGreaterThan(25)
      expect(ofAlerts.length).toBeGreaterThan(10)
      for (const expression of [...ofPanels, ...ofAlerts])
        // Temporal has refused no request here, and no workflow task has failed; the expression must be valid.
        if (/temporal_(?:request_failure|workflow_task_execution_failed)_total/.test(expression))
          await prometheus.count(expression)
        else await expectData(expression)
      const loaded = await eventually('all rules are evaluated', async () => {
        const evaluated = await prometheus.rules()
        return evaluated.every(({ health }) => health !== 'unknown') && evaluated
      })
      expect(loaded).toHaveLength(ofAlerts.length)
      expect(loaded.filter(({ health }) => health !== 'ok')).toEqual([])
      await expect(prometheus.count('sum by (')).rejects.toThrow(/parse error/)
    })
  })
})
