import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createKnowledge } from '../infra/knowledge.ts'
import { connectDatabase } from '../infra/mongo/connect.ts'
import { runProgram } from '../infra/program.ts'
import { connectTemporal } from '../infra/temporal/connect.ts'
import { createWorkflowClient } from '../infra/temporal/workflow-client.ts'
import { createReembedding } from '../services/knowledge/reembedding.ts'

/**
 * After a change of `EMBEDDING_MODEL`: has the files of all assistants embedded anew by the workers. Run it with the
 * new settings, when API and workers have them. Safe to repeat.
 */
const usage = `usage: node scripts/reembed.ts [--dry-run] [--most NUMBER] [--wait]

--dry-run  only count the assistants and the chunks to be embedded
--most     start at most so many assistants (default: all)
--wait     wait until none is running; exit with 1 if one was given up`

const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    most: { type: 'string', default: 'Infinity' },
    wait: { type: 'boolean', default: false },
  },
})
const most = Number(values.most)
if (!(most >= 0)) {
  console.error(usage)
  process.exit(2)
}
const pollMs = 2000

await runProgram(async (settings) => {
  const database = await connectDatabase(settings.mongodbUri, { tls: settings.mongodbTls })
  const temporal = await connectTemporal(settings)
  const { vectors, embedder, close } = createKnowledge(settings, database, fetch)
  try {
    const reembedding = createReembedding({
      collections: database.collections,
      vectors,
      workflows: createWorkflowClient(temporal, settings),
      model: embedder?.model,
    })
    let counts = await reembedding.startAll({ most, dryRun: values['dry-run'] })
    console.log(JSON.stringify(counts))
    let countingMs = 0
    while (values.wait && !values['dry-run']) {
      await sleep(Math.max(pollMs, 5 * countingMs))
      const started = Date.now()
      counts = await reembedding.startAll({ most: 0, dryRun: true })
      countingMs = Date.now() - started
      console.log(JSON.stringify(counts))
      if (counts.running > 0) continue
      if (counts.failed > 0) process.exitCode = 1
      break
    }
  } finally {
    await close()
    await temporal.close()
    await database.close()
  }
})
