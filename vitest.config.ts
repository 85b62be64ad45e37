import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Installs all packages once more, which takes a minute: only where everything is checked.
    exclude: process.env['CI'] ? [] : ['test/deploy/built-image.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // The servers under test share the machine with the tests.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    teardownTimeout: 30_000,
  },
})
