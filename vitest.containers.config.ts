import { defineConfig } from 'vitest/config'

/** The image and docker-compose.yml, started by a container engine. */
export default defineConfig({
  test: { include: ['test/containers/**/*.containers.ts'], pool: 'forks', maxWorkers: 1, testTimeout: 600_000 },
})
