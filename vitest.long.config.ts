import { defineConfig } from 'vitest/config'
import { longTests } from './test/support/tiers.ts'
import { limits } from './vitest.config.ts'

/** `npm run test:long`: the tests that take minutes. */
export default defineConfig({
  test: {
    ...limits,
    include: longTests,
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
})
