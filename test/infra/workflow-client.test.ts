import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { emailVerificationContract } from '../../domain/contracts/email-verification.ts'
import { feedbackContract } from '../../domain/contracts/feedback.ts'
import { threadContract } from '../../domain/contracts/thread.ts'
import { newId } from '../../domain/ids.ts'
import { connectTemporal } from '../../infra/temporal/connect.ts'
import { createWorkflowClient } from '../../infra/temporal/workflow-client.ts'
import { startService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'
import { useStarted } from '../support/use-started.ts'

describe('the workflow client', () => {
  const service = useStarted(() => startService({ worker: false }))

  const clientOf = (dependencyTimeoutSeconds = 15) =>
    createWorkflowClient(
      { client: service.temporal, eagerClient: () => undefined },
      { ...service.settings, dependencyTimeoutSeconds },
    )
  const newFeedback = () => ({ feedbackId: newId(), runId: newId(), userId: newId() })

  it('starts a workflow once, waits for its end within the limit, and returns how it ended', async () => {
    const client = clientOf()
    const start = newFeedback()
    await client.start(feedbackContract, start)
    const { runId } = await service.temporal.workflow.getHandle(feedbackContract.id(start)).describe()
    await client.start(feedbackContract, start)
    expect(await service.temporal.workflow.getHandle(feedbackContract.id(start)).describe()).toMatchObject({ runId })
    expect(await client.result(feedbackContract, start, { waitMs: 100 })).toEqual({ status: 'running' })
    // With the run that it is about.
    expect(await client.state(feedbackContract, start)).toEqual({ status: 'running', runId: start.runId })
    expect(await client.terminate(feedbackContract, start, 'by a test')).toBe(true)
    expect(await client.result(feedbackContract, start, { waitMs: 10_000 })).toMatchObject({ status: 'failed' })
    expect(await client.state(feedbackContract, start)).toMatchObject({ status: 'broken_off' })
  })

  it('leaves no retry behind when its connection is closed', async () => {
    const proxy = await startTcpProxy(service.settings.temporalAddress)
    const temporal = await connectTemporal({ ...service.settings, temporalAddress: proxy.address })
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    process.on('uncaughtException', note)
    proxy.refuse()
    const calls = Array.from({ length: 20 }, () => temporal.client.workflow.count('WorkflowId = "none"'))
    const ends = Promise.allSettled(calls)
    // Some calls wait for their next try by then.
    await pause(300)
    await temporal.close()
    expect((await ends).map(({ status }) => status)).toEqual(calls.map(() => 'rejected'))
    process.off('uncaughtException', note)
    await proxy.close()
    expect(uncaught).toEqual([])
  })

  it('stops waiting when its caller aborts', async () => {
    const client = clientOf()
    const start = newFeedback()
    await client.start(feedbackContract, start)
    const waiting = client.result(feedbackContract, start, { waitMs: 60_000, signal: AbortSignal.timeout(100) })
    expect(await waiting).toEqual({ status: 'running' })
  })

  it('reports missing workflows', async () => {
    const client = clientOf()
    const [threadId, userId] = [newId(), newId()]
    expect(await client.state(threadContract, { threadId })).toEqual({ status: 'not_found' })
    expect(await client.result(threadContract, { threadId }, { waitMs: 10_000 })).toEqual({ status: 'not_found' })
    expect(await client.signal(threadContract, { threadId }, 'cancelRun', { runId: 'r' })).toBe(false)
    expect(await client.terminate(threadContract, { threadId }, 'by a test')).toBe(false)
    const attempt = { code: { runId: 'r', send: 1 }, correct: true }
    expect(await client.update(emailVerificationContract, { userId }, 'verify', attempt)).toEqual({
      status: 'not_running',
    })
  })

  it('throws unavailable when no worker handles an update in time', async () => {
    const start = { userId: newId(), sendAtStart: true }
    const client = clientOf(1)
    const attempt = { code: { runId: 'r', send: 1 }, correct: true }
    await client.start(emailVerificationContract, start)
    for (const call of [
      () => client.update(emailVerificationContract, start, 'verify', attempt),
      () => client.updateWithStart(emailVerificationContract, start, 'resend'),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'unavailable' })
  })
})
