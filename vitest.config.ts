import { defineConfig } from 'vitest/config'
import { bundledReaders } from './test/support/bundled-readers.ts'
import SlowestFirst from './test/support/slowest-first.ts'
import { longTests, quickTests } from './test/support/tiers.ts'

/** They measure their process, or install a runtime of Temporal of their own, which a process does once. */
const withOwnProcess = ['test/metrics/metrics.test.ts', 'test/temporal-sdk/*.test.ts', 'test/api/follow-run.test.ts']

const withoutServers = quickTests().filter(
  (file) => !file.startsWith('test/temporal-sdk/') && !withOwnProcess.includes(file),
)

export const limits = {
  // What hangs takes for ever; a busy machine takes its time.
  testTimeout: 180_000,
  hookTimeout: 180_000,
  teardownTimeout: 30_000,
  // A busy machine answers late.
  expect: { poll: { timeout: 20_000 } },
}

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // The servers under test share the machine with the tests; one test more than there are cores uses their waits.
    maxWorkers: 3,
    sequence: { sequencer: SlowestFirst },
    projects: [
      {
        plugins: bundledReaders.plugins,
        test: {
          ...limits,
          env: bundledReaders.env,
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...longTests, ...withOwnProcess, ...withoutServers],
          pool: 'forks',
          // The files of a worker share its modules, which take a second to load, and a service.
          isolate: false,
        },
      },
      // In other processes, because some set the clock, which the service of the others needs.
      {
        plugins: bundledReaders.plugins,
        test: {
          ...limits,
          env: bundledReaders.env,
          name: 'without servers',
          include: withoutServers,
          pool: 'forks',
          isolate: false,
        },
      },
      { test: { ...limits, name: 'own process', include: withOwnProcess, pool: 'forks' } },
    ],
  },
})
