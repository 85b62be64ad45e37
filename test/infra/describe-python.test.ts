import { expect, it } from 'vitest'
import { describePython } from '../../infra/python/describe-python.ts'

it('a folder of Python packages that cannot be read is named with its setting', () => {
  expect(() => describePython('/nowhere/packages')).toThrow(
    /^CODE_PACKAGES names a folder that cannot be read: .*\/nowhere\/packages/,
  )
  expect(describePython(undefined)).toContain('the standard library only')
})
