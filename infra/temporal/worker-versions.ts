import type { Client } from '@temporalio/client'
import proto from '@temporalio/proto'

const { WorkerDeploymentVersionStatus } = proto.temporal.api.enums.v1

const limitMs = 30_000

interface WorkerVersion {
  buildId: string
  /** `current`: gets all new work that is not ramped to another build. `draining`: still has pinned workflows. */
  status: 'inactive' | 'current' | 'ramping' | 'draining' | 'drained'
  rampPercent: number
}

/** The builds of a deployment, and which of them gets new work: docs/operations/upgrade.md. */
export function createWorkerVersions(client: Client, namespace: string, deploymentName: string) {
  const call = <T>(work: () => Promise<T>) => client.withDeadline(Date.now() + limitMs, work)
  const target = { namespace, deploymentName, identity: 'worker-versions' }
  return {
    /** Newest first. */
    async list(): Promise<WorkerVersion[]> {
      const { workerDeploymentInfo: info } = await call(() =>
        client.workflowService.describeWorkerDeployment({ namespace, deploymentName }),
      )
      return (info?.versionSummaries ?? []).map(({ deploymentVersion, status }) => {
        const buildId = deploymentVersion?.buildId ?? ''
        const isRamping = buildId === info?.routingConfig?.rampingDeploymentVersion?.buildId
        return {
          buildId,
          status: statusOf(status),
          rampPercent: isRamping ? (info?.routingConfig?.rampingVersionPercentage ?? 0) : 0,
        }
      })
    },

    /** New work goes to this build, and workflows that upgrade by themselves do. Its workers must be polling. */
    async makeCurrent(buildId: string): Promise<void> {
      await call(() => client.workflowService.setWorkerDeploymentCurrentVersion({ ...target, buildId }))
    },

    /** Sends this percentage of new workflows to the build; 0 ends the ramp. */
    async ramp(buildId: string, percentage: number): Promise<void> {
      await call(() =>
        client.workflowService.setWorkerDeploymentRampingVersion({
          ...target,
          buildId: percentage === 0 ? '' : buildId,
          percentage,
        }),
      )
    },
  }
}

function statusOf(status: proto.temporal.api.enums.v1.WorkerDeploymentVersionStatus | null | undefined) {
  switch (status) {
    case WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_CURRENT:
      return 'current'
    case WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_RAMPING:
      return 'ramping'
    case WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINING:
      return 'draining'
    case WorkerDeploymentVersionStatus.WORKER_DEPLOYMENT_VERSION_STATUS_DRAINED:
      return 'drained'
    default:
      return 'inactive'
  }
}
