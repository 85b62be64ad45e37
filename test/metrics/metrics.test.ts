import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ModelService, startModelService } from '../support/model-service.ts'
import { eventually } from '../support/eventually.ts'
import { conversation } from '../runs/support.ts'

const token = 'a token for the metrics, long enough'

describe('metrics', () => {
  let service: ModelService
  beforeAll(async () => {
    service = await startModelService({ env: { METRICS_PORT: '0', METRICS_TOKEN: token } })
  })
  afterAll(() => service.close())

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
})
