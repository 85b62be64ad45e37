import { expect, it } from 'vitest'
import { killed, runProductionDrill } from '../../faults/production-drill/run-drill.ts'

it(
  'the installation of the compose file answers, survives kills and a rolling upgrade, and is restored',
  { timeout: 1_200_000 },
  async () => {
    const steps = await runProductionDrill(console.log)
    expect(steps.map(({ step }) => step)).toEqual(
      [
        ['PostgreSQL', 'Temporal', 'Redis', 'MongoDB', 'migrations', 'API and workers', 'proxy', 'quickstart'],
        killed.map((name) => `kill ${name}`),
        ['rolling upgrade', 'backup', 'restore'],
      ].flat(),
    )
    expect(steps.find(({ step }) => step === 'Temporal')?.seen).toMatch(
      /^server \d+\.\d+\.\d+ on PostgreSQL, 512 shards$/,
    )
  },
)
