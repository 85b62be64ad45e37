import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../domain/ids.ts'
import { loadSettings } from '../../infra/config.ts'
import { createLogger } from '../../infra/logger.ts'
import { createWorkerVersions } from '../../infra/temporal/worker-versions.ts'
import { startWorker } from '../../worker/start-worker.ts'
import { conversation } from '../runs/support.ts'
import { apiClient } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { codeTo } from '../support/mailbox.ts'
import { startModelService } from '../support/model-service.ts'
import { goodPassword, newEmail } from '../support/users.ts'

/** A rolling upgrade from build `one` to build `two`, and back. */
describe('versioned workers', () => {
  const deploymentName = `test-${newId()}`
  let service: Awaited<ReturnType<typeof startModelService>>
  const workers: Awaited<ReturnType<typeof startWorker>>[] = []
  beforeAll(async () => {
    service = await startModelService({ worker: false })
  })
  afterAll(async () => {
    await Promise.all(workers.map((worker) => worker.close()))
    await service.close()
  })

  const versions = () => createWorkerVersions(service.temporal, service.settings.temporalNamespace, deploymentName)
  const startBuild = async (buildId: string) => {
    const env = { ...service.env, TEMPORAL_DEPLOYMENT_NAME: deploymentName, TEMPORAL_WORKER_BUILD_ID: buildId }
    workers.push(await startWorker(loadSettings(env), createLogger('test', 'silent')))
    // The server knows a build by the polls of its workers, which come in their own time.
    return eventually(
      `build ${buildId}`,
      async () => {
        const list = await versions()
          .list()
          .catch(() => [])
        return list.find((version) => version.buildId === buildId)
      },
      60_000,
    )
  }
  const makeCurrent = (buildId: string) =>
    eventually(`${buildId} as the current build`, async () => {
      // Refused until the workers of all task queues have polled.
      await versions()
        .makeCurrent(buildId)
        .catch(() => undefined)
      return (await versions().list()).find((version) => version.buildId === buildId && version.status === 'current')
    })
  const buildOf = async (workflowId: string) => {
    const { raw } = await service.temporal.workflow.getHandle(workflowId).describe()
    return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId
  }
  /** The task in which the model answered ends a little after its answer is there. */
  const threadIsOn = (threadId: string, buildId: string) =>
    eventually(`thread on build ${buildId}`, async () => (await buildOf(`thread/${threadId}`)) === buildId || undefined)
  const signUp = async () => {
    const email = newEmail()
    const { user_id: userId } = await apiClient(service.url).post('/auth/signup', { email, password: goodPassword })
    return { email, workflowId: `email-verification/${userId}`, code: await codeTo(email) }
  }
  const verify = ({ email, code }: { email: string; code: string }) =>
    apiClient(service.url).post('/auth/verify-email', { email, code })

  it('give new work to the current build; pinned workflows end on their build, threads continue on the new one', async () => {
    expect(await startBuild('one')).toMatchObject({ status: 'inactive' })
    await makeCurrent('one')
    const pinned = await signUp()
    expect(await buildOf(pinned.workflowId)).toBe('one')
    const talk = await conversation(service, {
      'type==agent/tools': [{ type: 'http_request' }],
      'type==agent/interrupt_before_action': true,
    })
    service.model.reply({
      toolCalls: [{ name: 'http_request', arguments: { method: 'GET', url: 'http://127.0.0.1:9/' } }],
    })
    const run = await talk.start('fetch it')
    await eventually('the run to wait for a person', async () => {
      const { status } = await talk.client.get(`/runs/${run.run_id}`)
      return status === 'interrupted' || undefined
    })
    await threadIsOn(talk.threadId, 'one')

    await startBuild('two')
    await makeCurrent('two')
    const fresh = await signUp()
    expect(await buildOf(fresh.workflowId)).toBe('two')
    await verify(pinned)
    expect(await buildOf(pinned.workflowId)).toBe('one')
    service.model.reply({ text: 'Not fetched, then.' })
    await talk.client.post(`/runs/${run.run_id}/resume`, { action: 'reject', message: 'no' })
    expect((await talk.join(run.run_id)).end).toBe('end')
    await threadIsOn(talk.threadId, 'two')
    expect((await versions().list()).find(({ buildId }) => buildId === 'one')?.status).toMatch(/draining|drained/)

    // Back: what began on the newer build ends there, new work goes to the older one.
    await makeCurrent('one')
    const after = await signUp()
    expect(await buildOf(after.workflowId)).toBe('one')
    await verify(fresh)
    expect(await buildOf(fresh.workflowId)).toBe('two')
    await verify(after)
  })

  it('count as workers in the health check', async () => {
    const { dependencies } = await apiClient(service.url).get('/ok')
    expect(dependencies.workers).toEqual({ status: 'ok' })
  })
})
