import { defineConfig } from 'vitest/config'
import { longTests } from './test/support/tiers.ts'
import whole from './vitest.config.ts'

/** `npm run test:long`: the tests that take minutes. */
export default defineConfig({ test: { ...whole.test, include: longTests, exclude: [] } })
