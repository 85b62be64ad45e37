import { defineConfig } from 'vitest/config'

/** The image and docker-compose.yml, started by a container engine. */
export default defineConfig({
  test: {
    include: ['test/containers/**/*.containers.ts'],
    globalSetup: 'test/containers/global-setup.ts',
    pool: 'forks',
    maxWorkers: 1,
    fileParallelism: false,
    testTimeout: 600_000,
  },
})
