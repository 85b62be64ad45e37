/**
 * Tests of minutes are in files named `*.long.test.ts`, run by `npm run test:long`. `TEST_SHORT_FORM=1` gives each of
 * them its short form, which `.ci/run` runs after `npm test`.
 */
const isShort = process.env['TEST_SHORT_FORM'] === '1'

/** How much of something a long test does: in its long form, and in its short form. */
export const inForm = <T>(forms: { long: T; short: T }): T => (isShort ? forms.short : forms.long)
