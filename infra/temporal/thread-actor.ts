import { type Client, WithStartWorkflowOperation, WorkflowNotFoundError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { queueName } from '../../domain/contracts/queues.ts'
import { searchAttributes } from '../../domain/contracts/search-attributes.ts'
import {
  type AboutRun,
  type ResumeRun,
  type EnqueueRun,
  type ThreadWorkflowInput,
  cancelRunSignalName,
  enqueueRunSignalName,
  resumeRunSignalName,
  threadBusyType,
  threadWorkflowId,
  threadWorkflowType,
  tryEnqueueRunUpdateName,
} from '../../domain/contracts/thread.ts'
import { workflowTaskTimeout } from '../../domain/contracts/workflow-start.ts'
import type { Settings } from '../config.ts'
import { callTemporal, isRefusal } from './call-temporal.ts'
import type { ThreadActor, ThreadRunRef } from '../../services/runs/thread-actor.ts'

type ThreadWorkflow = (input: ThreadWorkflowInput) => Promise<void>

/** Runs reach the thread's workflow by signal-with-start: one that is there gets the signal, else it is started with it. */
export function createThreadActor(
  client: Client,
  { taskQueuePrefix, runMaxMinutes }: Pick<Settings, 'taskQueuePrefix' | 'runMaxMinutes'>,
): ThreadActor {
  const startOptions = (run: ThreadRunRef) => ({
    taskQueue: queueName('runs', taskQueuePrefix),
    workflowId: threadWorkflowId(run.threadId),
    args: [{ threadId: run.threadId }] satisfies [ThreadWorkflowInput],
    workflowTaskTimeout,
    staticSummary: `Thread ${run.threadId}`,
    typedSearchAttributes: new TypedSearchAttributes([
      { key: searchAttributes.UserId, value: run.userId },
      { key: searchAttributes.ProjectId, value: run.projectId },
      { key: searchAttributes.ThreadId, value: run.threadId },
      { key: searchAttributes.AssistantId, value: run.assistantId },
      { key: searchAttributes.AgentRunId, value: run.runId },
    ]),
  })

  return {
    async enqueue(run, strategy) {
      const message: EnqueueRun = { runId: run.runId, strategy, maxDurationMs: runMaxMinutes * 60_000 }
      if (strategy !== 'reject') {
        await callTemporal(client, () =>
          client.workflow.signalWithStart(threadWorkflowType, {
            ...startOptions(run),
            signal: enqueueRunSignalName,
            signalArgs: [message],
          }),
        )
        return true
      }
      const startWorkflowOperation = new WithStartWorkflowOperation<ThreadWorkflow>(threadWorkflowType, {
        ...startOptions(run),
        workflowIdConflictPolicy: 'USE_EXISTING',
      })
      try {
        return await callTemporal(client, () =>
          client.workflow.executeUpdateWithStart<ThreadWorkflow, boolean, [EnqueueRun]>(tryEnqueueRunUpdateName, {
            startWorkflowOperation,
            args: [message],
          }),
        )
      } catch (error) {
        if (isRefusal(error, threadBusyType)) return false
        throw error
      }
    },
    cancel: async (threadId, runId) => {
      await signalIfThere(client, threadId, cancelRunSignalName, { runId })
    },
    resume: (threadId, runId, step) => signalIfThere(client, threadId, resumeRunSignalName, { runId, step }),
  }
}

async function signalIfThere(
  client: Client,
  threadId: string,
  name: string,
  message: AboutRun | ResumeRun,
): Promise<boolean> {
  try {
    const handle = client.workflow.getHandle(threadWorkflowId(threadId))
    await callTemporal(client, () => handle.signal<[AboutRun | ResumeRun]>(name, message))
    return true
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false
    throw error
  }
}
