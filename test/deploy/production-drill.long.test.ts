import { expect, it } from 'vitest'
import { killed, runProductionDrill } from '../../faults/production-drill/run-drill.ts'
import { type RedisKind, redisKinds } from '../../faults/production-drill/servers.ts'
import { inForm } from '../support/long-form.ts'

it.each(inForm<readonly RedisKind[]>({ long: redisKinds, short: ['single'] }))(
  'the installation of the compose file answers, survives kills and a rolling upgrade, and is restored (Redis: %s)',
  { timeout: 1_200_000 },
  async (kind) => {
    const steps = await runProductionDrill(console.log, kind)
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
