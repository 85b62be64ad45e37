import { defineConfig } from 'vitest/config'
import { peers } from './test/support/peers.ts'
import { limits } from './vitest.config.ts'

/** `npm run peers`: programs that others wrote, unchanged, against this service. */
export default defineConfig({
  test: {
    ...limits,
    include: peers.map(({ file }) => file),
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
  },
})
