const number = (name: string, fallback: number) => Number(process.env[name] || fallback)

/** `BENCH_ROUNDS=5 BENCH_ROUND_SECONDS=10` is the long form. */
export const rounds = number('BENCH_ROUNDS', 3)
export const roundMs = number('BENCH_ROUND_SECONDS', 3) * 1000
/** Questions that are asked one at a time. */
export const questions = number('BENCH_QUESTIONS', 60)
export const atOnceOf = (process.env['BENCH_AT_ONCE'] || '1,16,64').split(',').map(Number)
