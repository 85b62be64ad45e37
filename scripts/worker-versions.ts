import { existsSync } from 'node:fs'
import { runProgram } from '../infra/program.ts'
import { connectTemporal } from '../infra/temporal/connect.ts'
import { createWorkerVersions } from '../infra/temporal/worker-versions.ts'

/** Which build of the workers gets new work. docs/operations/upgrade.md describes the order of an upgrade. */
const usage = `usage: node scripts/worker-versions.ts list
       node scripts/worker-versions.ts current BUILD_ID
       node scripts/worker-versions.ts ramp BUILD_ID PERCENT

TEMPORAL_DEPLOYMENT_NAME names the deployment.`

if (existsSync('.env')) process.loadEnvFile('.env')

const [command, buildId, percent] = process.argv.slice(2)
const percentage = Number(percent)
const deploymentName = process.env['TEMPORAL_DEPLOYMENT_NAME']
const isKnown =
  (command === 'list' && buildId === undefined) ||
  (command === 'current' && buildId !== undefined && percent === undefined) ||
  (command === 'ramp' && buildId !== undefined && percentage >= 0 && percentage <= 100)
if (!isKnown || !deploymentName) {
  console.error(usage)
  process.exit(2)
}

await runProgram(
  async (settings) => {
    const temporal = await connectTemporal(settings)
    try {
      const versions = createWorkerVersions(temporal.client, settings.temporalNamespace, deploymentName)
      if (command === 'current' && buildId !== undefined) await versions.makeCurrent(buildId)
      if (command === 'ramp' && buildId !== undefined) await versions.ramp(buildId, percentage)
      for (const version of await versions.list())
        console.log(
          `${version.buildId}\t${version.status}${version.rampPercent > 0 ? ` (${version.rampPercent} % of new workflows)` : ''}`,
        )
    } finally {
      await temporal.close()
    }
  },
  // Only the name of the deployment is needed here, not a build id of this process.
  { variables: { TEMPORAL_WORKER_BUILD_ID: buildId ?? 'none' } },
)
