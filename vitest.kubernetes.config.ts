import { defineConfig } from 'vitest/config'
import { limits } from './vitest.config.ts'

/** `npm run test:kubernetes`: the chart on the API servers of Kubernetes, which are built first. */
export default defineConfig({
  test: { ...limits, include: ['test/kubernetes/**/*.kubernetes.ts'], pool: 'forks', testTimeout: 600_000 },
})
