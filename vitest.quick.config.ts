import { defineConfig } from 'vitest/config'
import { quickTests } from './test/support/tiers.ts'

/** `npm run test:quick`: without servers, a browser, a build of the console or a global setup. */
export default defineConfig({
  test: { include: quickTests(), pool: 'forks', maxWorkers: 2, isolate: false, testTimeout: 60_000 },
})
