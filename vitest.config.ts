import { defineConfig } from 'vitest/config'
import { longTests } from './test/support/tiers.ts'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: longTests,
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // The servers under test share the machine with the tests.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
